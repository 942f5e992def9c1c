"""The Fortran types that the module `shmem` takes, and what each is in C."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    suffix: str
    declared: str
    bytes: str          # of one element, an expression over the dummy {0}
    typed: str = ""     # the C type's name in the table; empty: bytes alone
    sized: int = 0      # bits of the C form by size; 0: the form by bytes


KINDS = (
    Kind("i1", "integer(c_int8_t)", "1_c_size_t", "int8", 8), Kind("i2", "integer(c_int16_t)", "2_c_size_t", "int16", 16),
    Kind("i4", "integer(c_int32_t)", "4_c_size_t", "int32", 32), Kind("i8", "integer(c_int64_t)", "8_c_size_t", "int64", 64),
    Kind("r4", "real(c_float)", "4_c_size_t", "float", 32), Kind("r8", "real(c_double)", "8_c_size_t", "double", 64),
    Kind("rl", "real(c_long_double)", "16_c_size_t", "longdouble", 128),
    Kind("c4", "complex(c_float_complex)", "8_c_size_t", "complexf", 64),
    Kind("c8", "complex(c_double_complex)", "16_c_size_t", "complexd", 128),
    Kind("l1", "logical(c_bool)", "1_c_size_t", "", 8), Kind("l4", "logical", "4_c_size_t", "", 32),
    Kind("ch", "character(len=*)", "len({0}, c_size_t)"),
)
WHOLE = {"i1", "i2", "i4", "i8"}
