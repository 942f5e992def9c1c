# How a test file becomes tests. tests/*/CMakeLists.txt calls one of three functions:
#
#   lateral_job_tests(LABEL [FILES ...])    each C or C++ file here is a program run by oshrun
#   lateral_network_tests(LABEL)            the same, of programs that need the modules of networks
#   lateral_unit_tests(LABEL [FILES ...] [LIBRARY lib])
#                                           each file is a program run by itself, linked to the
#                                           static library so that it may call inner functions
#
# LABEL is the CTest label (unit, job, mt, conform, launch). Without FILES: every file of the folder.
# Comment lines at the head of a file say how it runs (tests/run.py reads them):
#
#   pes: 1 2 4 7           PE counts (this is the default)
#   args: -x 3             arguments of the program
#   env: A=B C=D           environment; may be repeated
#   oshrun: --check        options for oshrun
#   fails: REGEX           must exit non-zero with REGEX in its standard error
#   status: 3              must exit with exactly this status (together with fails or alone)
#   prints: REGEX          must print REGEX on standard output
#   timeout: 60            seconds (default 60)
#   labels: slow           more labels
#   flags: -DX -std=c11    compiler options of this file
#   skip: tsan aarch64     not under these presets
#   needs: ucx             not in a build without UCX. What else has ucx in LATERAL_TRANSPORTS runs over tcp there
#   serial:                not beside any other test
#   cores: 1               takes so many processors (default: one for each PE); for a test that mostly sleeps
#   patience: 3 9          if it fails, again with so many times the seconds of its `oshrun: --timeout` (a busy machine starts late)
#   case: NAME             what follows holds for this case alone; a file may have many cases
#
# Extra link libraries: target_link_libraries(test_LABEL_FILE PRIVATE ...) after the call.

set(LATERAL_TEST_ROOMS "" CACHE STRING "Labels of tests to build; empty: all")
set(LATERAL_TEST_PES "" CACHE STRING
    "Of the PE counts that a file names, run these alone, e.g. \"2 4\" (its first one when none is left); empty: all")
get_filename_component(LATERAL_PRESET "${PROJECT_BINARY_DIR}" NAME)
set(LATERAL_RUN_TEST ${PROJECT_SOURCE_DIR}/tests/run.py)

# The modules that carry messages between nodes, and what run.py has to know of them.
set(LATERAL_NETWORKS lateral_tcp lateral_fault lateral_sim)
if(TARGET lateral_ofi)
  list(APPEND LATERAL_NETWORKS lateral_ofi)
endif()
set(LATERAL_NETWORK "")
if(TARGET lateral_ucx)
  list(APPEND LATERAL_NETWORKS lateral_ucx)
else()
  set(LATERAL_NETWORK --network=tcp)
endif()

function(lateral_job_tests label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES")
  _lateral_tests(${label} lateral TRUE "${arg_FILES}")
endfunction()

function(lateral_network_tests label)
  lateral_job_tests(${label})
  get_property(made DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS made)
    add_dependencies(${target} ${LATERAL_NETWORKS})
  endforeach()
endfunction()

# Programs of this folder that ask for UCX, over TCP as well. Where UCX is missing they are over TCP anyway.
function(lateral_over_tcp label)
  if(NOT TARGET lateral_ucx)
    return()
  endif()
  set(LATERAL_NETWORK --network=tcp)
  foreach(stem IN LISTS ARGN)
    _lateral_cases(${label} test_${label}_${stem} ${CMAKE_CURRENT_SOURCE_DIR}/${stem}.c /tcp)
  endforeach()
endfunction()

# libfabric's providers that run without an adapter, and list elements with which one is chosen. Threads of `sockets` would spin for 10 ms
# after each event, on cores that the PEs need.
set(LATERAL_PROVIDERS "")
if(TARGET lateral_ofi)
  set(LATERAL_PROVIDERS tcp shm sockets rxd)
endif()
foreach(provider IN LISTS LATERAL_PROVIDERS)
  string(REPLACE rxd "udp\\;ofi_rxd" LATERAL_OVER_${provider} "FI_PROVIDER=${provider};FI_SOCKETS_PE_WAITTIME=0")
endforeach()

# Programs of this folder that ask for UCX, over each of these, with label again; but for PROVIDER/PROGRAM that the expression names.
function(lateral_over_ofi label but)
  set(LATERAL_NETWORK --network=ofi)
  file(GLOB files CONFIGURE_DEPENDS *.c)
  foreach(provider IN LISTS LATERAL_PROVIDERS)
    set(LATERAL_SETTING "${LATERAL_OVER_${provider}}")
    foreach(file IN LISTS files)
      cmake_path(GET file STEM stem)
      if(NOT "${provider}/${stem}" MATCHES "${but}")
        _lateral_cases(${label} test_${label}_${stem} ${file} /ofi_${provider})
      endif()
    endforeach()
  endforeach()
endfunction()

function(lateral_unit_tests label)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY" "FILES")
  if(NOT arg_LIBRARY)
    set(arg_LIBRARY lateral_static)
  endif()
  _lateral_tests(${label} ${arg_LIBRARY} FALSE "${arg_FILES}")
endfunction()

function(_lateral_tests label library jobs files)
  if(LATERAL_TEST_ROOMS AND NOT label IN_LIST LATERAL_TEST_ROOMS)
    return()
  endif()
  if(NOT files)
    file(GLOB files CONFIGURE_DEPENDS *.c *.cc *.cpp)
  endif()
  set(paths "")
  foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file)
    list(APPEND paths ${file})
  endforeach()
  _lateral_list(${jobs} ${paths})
  foreach(file IN LISTS paths)
    cmake_path(GET file STEM name)
    _lateral_program(test_${label}_${name} ${file} ${library} ${jobs})
    _lateral_cases(${label} test_${label}_${name} ${file})
  endforeach()
endfunction()

function(_lateral_program target file library jobs)
  add_executable(${target} ${file})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${library})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${target} PRIVATE -UNDEBUG)     # a test may assert()
  if(NOT LATERAL_SANITIZE)                               # it checks values, not speed: compiled four times as fast
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(NOT jobs)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${LATERAL_GENERATED})
  endif()
  if(jobs AND TARGET oshrun)
    add_dependencies(${target} oshrun)
  endif()
endfunction()

# Sets the global property cases_of_FILE of each file to what run.py --list prints for it, one line per test:
# case|pes|timeout|serial|labels|flags|cores (commas between items). One process lists all files.
function(_lateral_list jobs)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN} ${LATERAL_RUN_TEST})
  execute_process(COMMAND ${Python3_EXECUTABLE} -S ${LATERAL_RUN_TEST} --list --preset=${LATERAL_PRESET}
                          "--only-pes=${LATERAL_TEST_PES}" --jobs=${jobs} ${LATERAL_NETWORK} ${ARGN}
                  OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^=(.*)")
      set(file ${CMAKE_MATCH_1})
      set_property(GLOBAL PROPERTY cases_of_${file} "")
    else()
      set_property(GLOBAL APPEND PROPERTY cases_of_${file} "${line}")
    endif()
  endforeach()
endfunction()

# These presets share one CTest run with release (./dev test): their tests bear their name.
if(LATERAL_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(LATERAL_TEST_PREFIX ${LATERAL_PRESET}:)
endif()

# A further argument goes into the tests' names behind the label.
function(_lateral_cases label target file)
  get_property(lines GLOBAL PROPERTY cases_of_${file})
  foreach(line IN LISTS lines)
    string(REPLACE "|" ";" fields "${line}|end")
    list(GET fields 0 case)
    list(GET fields 1 pes)
    list(GET fields 2 timeout)
    list(GET fields 3 serial)
    list(GET fields 4 labels)
    list(GET fields 5 flags)
    list(GET fields 6 cores)
    string(REPLACE "," ";" labels "${labels}")
    string(REPLACE "," ";" flags "${flags}")
    if(label IN_LIST LATERAL_LONG_ROOMS)
      list(APPEND labels more)
    endif()
    target_compile_options(${target} PRIVATE ${flags})
    _lateral_one_test("${label}${ARGN}" ${target} ${file} "${case}" "${pes}" ${timeout})
    set_tests_properties(${test} PROPERTIES TIMEOUT ${timeout} RUN_SERIAL ${serial}
      LABELS "${label};${labels}" SKIP_RETURN_CODE 77)
    if(cores)
      set_tests_properties(${test} PROPERTIES PROCESSORS ${cores})
    endif()
    if(LATERAL_SETTING)
      set_tests_properties(${test} PROPERTIES LABELS again ENVIRONMENT "${LATERAL_SETTING}")
    endif()
  endforeach()
endfunction()

function(_lateral_one_test label target file case pes timeout)
  cmake_path(GET file STEM name)
  set(test ${LATERAL_TEST_PREFIX}${label}/${name})
  set(how ${LATERAL_NETWORK})
  if(case)
    string(APPEND test .${case})
    list(APPEND how --case=${case})
  endif()
  if(pes)
    string(APPEND test -${pes})
    math(EXPR limit "${timeout} - 5")                     # before CTest, which knows nothing of where the PEs are
    list(APPEND how --pes=${pes} --limit=${limit} --oshrun=${PROJECT_BINARY_DIR}/bin/oshrun)
  endif()
  if(CMAKE_CROSSCOMPILING_EMULATOR)
    string(REPLACE ";" " " emulator "${CMAKE_CROSSCOMPILING_EMULATOR}")
    list(APPEND how "--emulator=${emulator}")
  endif()
  if(LATERAL_SANITIZE)
    list(APPEND how --sanitize=${LATERAL_SANITIZE})
  endif()
  # -S: run.py needs the standard library alone, and starts in a third of the time.
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -S ${LATERAL_RUN_TEST} ${how} ${file} $<TARGET_FILE:${target}>)
  set(test ${test} PARENT_SCOPE)
endfunction()
