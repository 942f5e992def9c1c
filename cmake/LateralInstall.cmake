# What `cmake --install` puts under a prefix, all of it relocatable:
#
#   lib/liblateral.so.1, lib/liblateral.a, include/, lib/pkgconfig/lateral.pc,
#   lib/cmake/Lateral/ for find_package(Lateral): targets Lateral::shmem and Lateral::shmem_static
#   and for each MPI with a layer: lib/liblateral-mpi-NAME.so, lib/pkgconfig/lateral-mpi-NAME.pc, target Lateral::mpi_NAME
#
# The rooms api, launch, tools and docs install their headers, programs and pages themselves. Components, for
# cmake --install BUILD --component NAME: runtime (library, modules, oshrun, lateral-info), development (headers, wrappers,
# static library, what CMake and pkg-config read), documentation, mpi (layers and lateral-mpi), examples (example programs,
# the matrix profiler, benchmarks).
include(CMakePackageConfigHelpers)

# The target `product`: everything that is installed, without tests and benchmarks. In somebody else's build it is
# `lateral_product`, for that project may have a target of the plain name; `uninstall` is there at the top alone.
set(product product)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(product lateral_product)
endif()
add_custom_target(${product})
function(add_to_product folder)
  get_directory_property(targets DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
  get_directory_property(below DIRECTORY ${folder} SUBDIRECTORIES)
  if(targets)
    add_dependencies(${product} ${targets})
  endif()
  foreach(one IN LISTS below)
    add_to_product(${one})
  endforeach()
endfunction()
list(REMOVE_ITEM rooms examples tests bench)
foreach(room IN LISTS rooms)
  add_to_product(${PROJECT_SOURCE_DIR}/${room})
endforeach()
set(LATERAL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Lateral)

# The same names in the build as find_package gives: of targets, and of the launcher.
add_library(Lateral::shmem ALIAS lateral)
add_library(Lateral::shmem_static ALIAS lateral_static)
set(shared lateral)
foreach(mpi IN LISTS LATERAL_MPIS)
  add_library(Lateral::mpi_${mpi} ALIAS lateral_mpi_${mpi})
  list(APPEND shared lateral_mpi_${mpi})
endforeach()
if(NOT PROJECT_IS_TOP_LEVEL)
  set(Lateral_OSHRUN ${PROJECT_BINARY_DIR}/bin/oshrun PARENT_SCOPE)
  set(Lateral_MPIS "${LATERAL_MPIS}" PARENT_SCOPE)
  foreach(target IN LISTS shared)                # why: LateralConfig.cmake.in
    target_link_options(${target} INTERFACE
      $<BUILD_INTERFACE:LINKER:--push-state,--no-as-needed,$<TARGET_FILE:${target}>,--pop-state>)
  endforeach()
endif()
set_target_properties(lateral PROPERTIES EXPORT_NAME shmem)
set_target_properties(lateral_static PROPERTIES EXPORT_NAME shmem_static)
if(LATERAL_WHEEL)
  # A wheel holds no symbolic links. The library has its SONAME as its name, and the linker finds it by a script.
  set_target_properties(lateral PROPERTIES VERSION ${LATERAL_SOVERSION})
  set(namelink NAMELINK_SKIP)
  set(script ${PROJECT_BINARY_DIR}/linker/liblateral.so)
  file(CONFIGURE OUTPUT ${script} CONTENT "/* GNU ld script */\nINPUT(liblateral.so.@LATERAL_SOVERSION@)\n" @ONLY)
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
install(TARGETS lateral lateral_static EXPORT LateralTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${namelink} NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT LateralTargets NAMESPACE Lateral:: DESTINATION ${LATERAL_CMAKE_DIR} COMPONENT development)
if(LATERAL_MPIS)                                    # in a file of their own, for an installation without them
  install(EXPORT LateralMpiTargets NAMESPACE Lateral:: DESTINATION ${LATERAL_CMAKE_DIR} COMPONENT mpi)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development OPTIONAL FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/LateralConfig.cmake.in ${PROJECT_BINARY_DIR}/LateralConfig.cmake
  INSTALL_DESTINATION ${LATERAL_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LateralConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LateralConfig.cmake ${PROJECT_BINARY_DIR}/LateralConfigVersion.cmake
  DESTINATION ${LATERAL_CMAKE_DIR} COMPONENT development)

# pkg-config finds the prefix from where lateral.pc lies.
file(RELATIVE_PATH LATERAL_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" LATERAL_PC_UP "${LATERAL_PC_UP}")
if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")     # the loader looks in the system's folders anyway
  set(LATERAL_PC_RPATH "-Wl,-rpath,\${libdir} ")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/lateral.pc.in ${PROJECT_BINARY_DIR}/lateral.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lateral.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
# The names by which builds look for other OpenSHMEM libraries: of Open MPI, Sandia, OSSS-UCX and Cray, and find_package(OpenSHMEM).
# Installed by `cmake --install DIR --component compat` alone, since another library may own them.
set(compat ${PROJECT_BINARY_DIR}/compat)
set(only_compat COMPONENT compat EXCLUDE_FROM_ALL)
foreach(name oshmem oshmem-c oshmem-cxx openshmem sandia-openshmem osss-ucx sma)
  file(WRITE ${compat}/${name}.pc "Name: ${name}\nDescription: OpenSHMEM, as Lateral has it\nVersion: ${PROJECT_VERSION}\nRequires: lateral\n")
  install(FILES ${compat}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${only_compat})
endforeach()
foreach(name oshmem openshmem sma)
  file(CREATE_LINK liblateral.so.${LATERAL_SOVERSION} ${compat}/lib${name}.so SYMBOLIC)
  install(FILES ${compat}/lib${name}.so DESTINATION ${CMAKE_INSTALL_LIBDIR} ${only_compat})
endforeach()
write_basic_package_version_file(${compat}/OpenSHMEMConfigVersion.cmake VERSION 1.6 COMPATIBILITY SameMajorVersion)     # the standard's
install(FILES ${PROJECT_SOURCE_DIR}/cmake/OpenSHMEMConfig.cmake ${compat}/OpenSHMEMConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/OpenSHMEM ${only_compat})
foreach(LATERAL_MPI IN LISTS LATERAL_MPIS)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/lateral-mpi.pc.in ${PROJECT_BINARY_DIR}/lateral-mpi-${LATERAL_MPI}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lateral-mpi-${LATERAL_MPI}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT mpi)
endforeach()
set(docdir ${CMAKE_INSTALL_DOCDIR})
if(NOT PROJECT_IS_TOP_LEVEL)                     # there it is the other project's
  set(docdir ${CMAKE_INSTALL_DATAROOTDIR}/doc/${PROJECT_NAME})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${docdir})

# Shells find completions by the program's name.
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/oshrun.bash RENAME oshrun
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/oshrun.bash RENAME lateral-info
  DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${PROJECT_SOURCE_DIR}/packaging/completion/_oshrun DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/site-functions)

# Programs to copy and to measure with, beside each other as in the source tree.
set(LATERAL_SHARE_DIR ${CMAKE_INSTALL_DATAROOTDIR}/lateral)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/bench DESTINATION ${LATERAL_SHARE_DIR} COMPONENT examples
  FILES_MATCHING PATTERN "*.c" PATTERN "*.cc" PATTERN "*.f90" PATTERN "*.h" PATTERN "*.py" PATTERN "*.md" PATTERN "__pycache__" EXCLUDE)
file(RELATIVE_PATH BENCH_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATAROOTDIR}/lateral)
configure_file(${PROJECT_SOURCE_DIR}/tools/bench.in ${PROJECT_BINARY_DIR}/installed/lateral-bench @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/installed/lateral-bench DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT examples)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/report.py RENAME lateral-report DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT examples)
if(TARGET shmem-matrix)
  set_target_properties(shmem-matrix PROPERTIES INSTALL_RPATH "$ORIGIN" NO_SONAME ON)   # preloaded by its name
  install(TARGETS shmem-matrix LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT examples)
  add_dependencies(${product} shmem-matrix)
endif()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/LateralUninstall.cmake)
endif()
