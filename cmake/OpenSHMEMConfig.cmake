# find_package(OpenSHMEM): Lateral under the names of the find modules that projects bring along: the targets OpenSHMEM::OpenSHMEM and
# OpenSHMEM::openshmem, the variables OpenSHMEM_INCLUDE_DIRS, OpenSHMEM_LIBRARIES and OpenSHMEM_LAUNCHER.
include(CMakeFindDependencyMacro)
find_dependency(Lateral PATHS ${CMAKE_CURRENT_LIST_DIR}/../Lateral NO_DEFAULT_PATH)
foreach(name OpenSHMEM openshmem)
  if(NOT TARGET OpenSHMEM::${name})
    add_library(OpenSHMEM::${name} INTERFACE IMPORTED)
    set_target_properties(OpenSHMEM::${name} PROPERTIES INTERFACE_LINK_LIBRARIES Lateral::shmem)
  endif()
endforeach()
get_target_property(OpenSHMEM_INCLUDE_DIRS Lateral::shmem INTERFACE_INCLUDE_DIRECTORIES)
set(OpenSHMEM_LIBRARIES Lateral::shmem)
set(OpenSHMEM_LAUNCHER ${Lateral_OSHRUN})
