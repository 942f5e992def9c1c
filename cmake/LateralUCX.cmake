# Where UCX is: sets LATERAL_UCX_INCLUDE, LATERAL_UCX_UCP and LATERAL_UCX_UCS, or LATERAL_UCX_WHY when there is none.
#
# LATERAL_UCX_ROOT is a folder with include/ and lib/, and nothing else is looked at then: an installation of UCX, or the
# folder libucx/ of PyPI's package libucx-cu12. Without it CMake looks as it does for everything (CMAKE_PREFIX_PATH).
# Sets ${out} to the folders where PyPI's package of UCX lies when Lateral's wheel is installed beside it: in an
# environment of any Python, in a system's Python, or in one folder with all packages (pip install --target).
function(lateral_ucx_beside_python out)
  set(folders "$ORIGIN/../libucx/lib")
  foreach(minor RANGE 9 20)
    foreach(packages site-packages dist-packages)
      list(APPEND folders "$ORIGIN/python3.${minor}/${packages}/libucx/lib")
    endforeach()
  endforeach()
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

set(LATERAL_UCX_ROOT "" CACHE PATH "UCX to build with: a folder with include/ and lib/; empty: the system's")
set(LATERAL_UCX_OLDEST 1.13)

if(NOT "${LATERAL_UCX_ROOT}" STREQUAL "${LATERAL_UCX_LOOKED_IN}")   # asked for another one: look again
  foreach(name INCLUDE UCP UCS)
    unset(LATERAL_UCX_${name} CACHE)
  endforeach()
  set(LATERAL_UCX_LOOKED_IN "${LATERAL_UCX_ROOT}" CACHE INTERNAL "")
endif()

# A cross compiler has no use for this machine's UCX.
if(LATERAL_UCX_ROOT)
  set(where PATHS ${LATERAL_UCX_ROOT} PATH_SUFFIXES include lib lib64 NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
elseif(CMAKE_CROSSCOMPILING)
  set(LATERAL_UCX_WHY "UCX is not looked for when cross compiling (LATERAL_UCX_ROOT names one)")
  return()
endif()
find_path(LATERAL_UCX_INCLUDE ucp/api/ucp_version.h ${where})
find_library(LATERAL_UCX_UCP NAMES ucp libucp.so.0 ${where})    # some packages have no plain name
find_library(LATERAL_UCX_UCS NAMES ucs libucs.so.0 ${where})

if(NOT LATERAL_UCX_INCLUDE OR NOT LATERAL_UCX_UCP OR NOT LATERAL_UCX_UCS)
  string(JOIN " in " LATERAL_UCX_WHY "No ucp/api/ucp.h, libucp or libucs" ${LATERAL_UCX_ROOT})
  return()
endif()
file(STRINGS ${LATERAL_UCX_INCLUDE}/ucp/api/ucp_version.h lines REGEX "define UCP_API_(MAJOR|MINOR)")
string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2" LATERAL_UCX_VERSION "${lines}")
if(LATERAL_UCX_VERSION VERSION_LESS LATERAL_UCX_OLDEST)
  set(LATERAL_UCX_WHY "UCX ${LATERAL_UCX_VERSION} is older than ${LATERAL_UCX_OLDEST}")
else()
  message(STATUS "UCX ${LATERAL_UCX_VERSION}: ${LATERAL_UCX_UCP}")
endif()
