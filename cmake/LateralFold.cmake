# How the kernels of src/base/kind.h are compiled. Properties of source files hold in one folder of the build, so every
# CMakeLists.txt that compiles src/base calls this.
function(lateral_fold_sources)
  set(folder ${PROJECT_SOURCE_DIR}/src/base)
  # Loops of unknown length are vectorised from -O3 on; multiplications and additions stay apart.
  set_property(SOURCE ${folder}/fold.c ${folder}/fold_avx2.c ${folder}/fold_avx512.c APPEND PROPERTY
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>;-ffp-contract=off")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set_property(SOURCE ${folder}/fold_avx2.c APPEND PROPERTY COMPILE_OPTIONS -mavx2)
    set_property(SOURCE ${folder}/fold_avx512.c APPEND PROPERTY COMPILE_OPTIONS
      -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  endif()
endfunction()
