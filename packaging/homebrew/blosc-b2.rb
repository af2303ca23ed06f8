class BloscB2 < Formula
  desc "Compress, inspect, verify and convert files of the Blosc family"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/releases/download/v@VERSION@/blosc-rs-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  conflicts_with "b2-tools", "boost-build", because: "both install `b2` binaries"

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/b2-cli"), "--features", "parquet"
    system "cargo", "install", *std_cargo_args(path: "crates/blpk")
    system bin/"b2", "man", "--output-dir", man
    generate_completions_from_executable(bin/"b2", "completions", shells: [:bash, :zsh, :fish])
  end

  test do
    (testpath/"data").write "blosc" * 1000
    system bin/"b2", "compress", testpath/"data"
    system bin/"b2", "verify", testpath/"data.b2frame"
  end
end
