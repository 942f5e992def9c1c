# Hardening of what is installed: libraries, modules, launcher and tools. Programs of tests and benchmarks are built as a
# user builds his own. tests/trust/hardened.py reads it off the binaries.
#
# Each CMakeLists.txt whose targets are installed calls lateral_harden() first; it holds in the folder and below.
option(LATERAL_HARDEN "Build with stack protector, FORTIFY, stack-clash protection, relro and immediate binding" ON)

macro(lateral_harden)
  if(LATERAL_HARDEN AND NOT LATERAL_SANITIZE)
    add_compile_options(-fstack-protector-strong)
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64" OR NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
      add_compile_options(-fstack-clash-protection)
    endif()
    if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "_FORTIFY_SOURCE") # a distribution has its own
      add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
    endif()
    set(CMAKE_POSITION_INDEPENDENT_CODE ON) # executables too
    add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
  endif()
endmacro()
