"""The layout of Parquet files: the footer, the headers of pages, and the pages."""
