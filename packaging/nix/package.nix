# A recipe for Nix, as nixpkgs takes it; in a checkout: nix-build -E 'with import <nixpkgs> { }; callPackage ./packaging/nix/package.nix { }'
{
  lib,
  stdenv,
  cmake,
  ninja,
  python3,
  pkg-config,
  pmix,
  ucx,
  libfabric,
  withUcx ? true,
  withLibfabric ? false,
  withPmix ? true,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "lateral";
  version = lib.head (builtins.match ".*project\\(Lateral VERSION ([0-9.]+).*" (builtins.readFile ../../CMakeLists.txt));
  src = lib.cleanSource ../..;

  nativeBuildInputs = [
    cmake
    ninja
    python3
    pkg-config
  ];
  buildInputs = lib.optional withUcx ucx ++ lib.optional withLibfabric libfabric ++ lib.optional withPmix pmix;

  postPatch = "patchShebangs dev tools";
  cmakeFlags = [
    (lib.cmakeBool "LATERAL_TESTS" false)
    (lib.cmakeBool "LATERAL_BENCH" false)
    (lib.cmakeFeature "LATERAL_UCX" (if withUcx then "ON" else "OFF"))
    (lib.cmakeFeature "LATERAL_OFI" (if withLibfabric then "ON" else "OFF"))
    (lib.cmakeFeature "LATERAL_PMIX" (if withPmix then "ON" else "OFF"))
    (lib.cmakeFeature "LATERAL_OPENMPI" "OFF")
    (lib.cmakeFeature "LATERAL_MPICH" "OFF")
  ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/oshcc ${../../examples/hello.c} -o hello
    test "$($out/bin/oshrun -n 2 ./hello | grep -c 'hello from PE')" = 2
  '';

  meta = {
    description = "One-sided communication, with all of OpenSHMEM 1.6";
    homepage = "https://github.com/OWNER/lateral";
    license = lib.licenses.bsd3;
    platforms = lib.platforms.linux;
    mainProgram = "oshrun";
  };
})
