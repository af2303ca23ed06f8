# Built from this checkout: `nix-build -E '(import <nixpkgs> {}).callPackage packaging/nix/package.nix {}'`.
{
  lib,
  rustPlatform,
  installShellFiles,
}:

let
  workspace = (lib.importTOML ../../Cargo.toml).workspace.package;
in
rustPlatform.buildRustPackage {
  pname = "blosc-b2";
  inherit (workspace) version;

  src = lib.cleanSource ../..;
  cargoLock.lockFile = ../../Cargo.lock;

  cargoBuildFlags = [
    "--package=b2-cli"
    "--package=blpk"
  ];
  buildFeatures = [ "b2-cli/parquet" ];
  # The tests of all crates are those of the sources' own CI.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    $out/bin/b2 man --output-dir $out/share/man
    installShellCompletion --cmd b2 \
      --bash <($out/bin/b2 completions bash) \
      --zsh <($out/bin/b2 completions zsh) \
      --fish <($out/bin/b2 completions fish)
  '';

  meta = {
    description = "Compress, inspect, verify and convert files of the Blosc family";
    homepage = workspace.repository;
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "b2";
  };
}
