"""The installed build of the kernels, determined from the compiled code itself."""

__all__ = ["CHECKED", "COMPILER"]

cdef extern from *:
    """
    #ifdef _GLIBCXX_ASSERTIONS
    #define SHOAL_ASSERTIONS 1
    #else
    #define SHOAL_ASSERTIONS 0
    #endif
    #ifdef __VERSION__
    #define SHOAL_COMPILER __VERSION__
    #else
    #define SHOAL_COMPILER "unknown"
    #endif
    """
    const bint SHOAL_ASSERTIONS
    const char* SHOAL_COMPILER


def is_bounds_checked(
    const unsigned char[::1] first,  # IN  part of a longer buffer, so that the byte after its end is valid memory
) -> bool:
    """Say whether an index past the end is refused."""
    cdef unsigned char beyond
    try:
        beyond = first[first.shape[0]]
    except IndexError:
        return True
    return False


# Both are needed: Cython's directives check typed memoryviews, the assertions check C++ vectors.
CHECKED = bool(SHOAL_ASSERTIONS) and is_bounds_checked(memoryview(b"ab")[:1])
COMPILER = SHOAL_COMPILER.decode("ascii", "replace")
