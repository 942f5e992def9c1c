# What `cmake --install` puts under a prefix, all of it relocatable:
#
#   lib/liblateral.so.1, lib/liblateral.a, include/, lib/pkgconfig/lateral.pc,
#   lib/cmake/Lateral/ for find_package(Lateral): targets Lateral::shmem and Lateral::shmem_static
#   and for each MPI with a layer: lib/liblateral-mpi-NAME.so, lib/pkgconfig/lateral-mpi-NAME.pc, target Lateral::mpi_NAME
#
# The rooms api, launch, tools and docs install their headers, programs and pages themselves.
include(CMakePackageConfigHelpers)
set(LATERAL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Lateral)

set_target_properties(lateral PROPERTIES EXPORT_NAME shmem)
set_target_properties(lateral_static PROPERTIES EXPORT_NAME shmem_static)
install(TARGETS lateral lateral_static EXPORT LateralTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT LateralTargets NAMESPACE Lateral:: DESTINATION ${LATERAL_CMAKE_DIR})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  OPTIONAL FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/LateralConfig.cmake.in ${CMAKE_BINARY_DIR}/LateralConfig.cmake
  INSTALL_DESTINATION ${LATERAL_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/LateralConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/LateralConfig.cmake ${CMAKE_BINARY_DIR}/LateralConfigVersion.cmake
  DESTINATION ${LATERAL_CMAKE_DIR})

# pkg-config finds the prefix from where lateral.pc lies.
file(RELATIVE_PATH LATERAL_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" LATERAL_PC_UP "${LATERAL_PC_UP}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/lateral.pc.in ${CMAKE_BINARY_DIR}/lateral.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/lateral.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(LATERAL_MPI IN LISTS LATERAL_MPIS)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/lateral-mpi.pc.in ${CMAKE_BINARY_DIR}/lateral-mpi-${LATERAL_MPI}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/lateral-mpi-${LATERAL_MPI}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
