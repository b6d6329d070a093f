"""Tables that stay where they are: searched on counts, their rows dealt to groups or recoded there."""
