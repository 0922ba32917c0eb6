// nvcc's command lines in Clang's words.
#include "analyzer/clang/commands/nvcc.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "analyzer/clang/front_end.h"
#include "tests/catch.h"

namespace dtype_guard::clang_front_end {
namespace {

using Words = std::vector<std::string>;

Words translated(const Words& arguments) { return translate_nvcc(arguments, "/"); }

bool has(const Words& list, const std::string& one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

}  // namespace

TEST_CASE("nvcc's own options go with their values, joined or apart") {
  CHECK(translated({"-Xptxas", "-v", "-Xptxas=-O3", "--maxrregcount=32", "-maxrregcount", "64", "--threads",
                    "4", "-t=2", "-ccbin", "/usr/bin/g++", "-lineinfo", "--use_fast_math", "-diag-suppress",
                    "177", "-forward-unknown-to-host-compiler", "a.cu"}) == Words{"a.cu"});
}

TEST_CASE("what the host compiler understands stays") {
  const Words plain = {"-I/a", "-I", "/b", "-DX=1", "-D", "Y=2", "-O2", "-g", "-fopenmp", "-UZ"};
  CHECK(translated(plain) == plain);
  CHECK(translated({"-Xcompiler=-fPIC,-fopenmp", "-Xcompiler", "-DX=a\\,b"}) ==
        Words{"-fPIC", "-fopenmp", "-DX=a,b"});
}

TEST_CASE("lists are split as nvcc splits them") {
  CHECK(translated({"-DA=1,B", "-Ia,b", "-isystem=c,d", "-include", "x.h,y.h", "-Ufoo,bar"}) ==
        Words{"-DA=1", "-DB", "-Ia", "-Ib", "-isystem", "c", "-isystem", "d", "-include", "x.h", "-include",
              "y.h", "-Ufoo", "-Ubar"});
  CHECK(translated({"-D", "F(a\\,b)=1", "-DG=\"x,y\"", "-DH=\\\"x,y\\\"", "-D=Z", "-I=/q"}) ==
        Words{"-D", "F(a,b)=1", "-DG=\"x,y\"", "-DH=\"x", "-Dy\"", "-D", "Z", "-I", "/q"});
  CHECK(translated({"-Xcompiler", "-Wall -DA=1", "-Xcompiler=\"-DB=x,y\",-DC=\\\"q\\\""}) ==
        Words{"-Wall", "-DA=1", "-DB=x,y", "-DC=q"});
}

TEST_CASE("a value is joined, a word of its own, or attached to a letter") {
  CHECK(translated({"-t4", "-t", "4", "-lcublas", "-l", "m", "-L/lib", "--entries", "main", "-m", "64",
                    "a.cu"}) == Words{"a.cu"});
  CHECK(translated({"-O3", "--optimize", "2", "-O=1", "-O", "-ftemplate-depth", "900"}) ==
        Words{"-O3", "-O2", "-O1", "-O", "-ftemplate-depth=900"});
  CHECK(translated({"-Werror", "all-warnings", "--Werror=reorder", "-Werror", "-DA", "-brief-diag",
                    "true"}) == Words{"-DA"});
  CHECK(translated({"-march=native", "-ffast-math", "-Ofast", "-Wno-foo,bar"}) ==
        Words{"-march=native", "-ffast-math", "-Ofast", "-Wno-foo,bar"});
}

TEST_CASE("a file of options") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("options-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.txt") << "-DFROM=1 -I inc\n-Xcompiler \"-Wall\" --options-file b.txt\n";
  std::ofstream(folder / "b.txt") << "-DDEEP -arch sm_90";
  const Words expected = {"-DFROM=1", "-I", "inc", "-Wall", "-DDEEP", "--cuda-gpu-arch=sm_90"};
  CHECK(translate_nvcc({"-optf", "a.txt"}, folder.string()) == expected);
  CHECK(translate_nvcc({"--options-file=a.txt,missing.txt"}, folder.string()) == expected);
  std::filesystem::remove_all(folder);
}

TEST_CASE("options that have other names") {
  CHECK(translated({"-x", "cu", "-isystem=/inc", "-isystem", "/more", "--std", "c++17", "--define-macro=A=1",
                    "--pre-include", "first.h"}) == Words{"-x", "cuda", "-isystem", "/inc", "-isystem",
                                                          "/more", "-std=c++17", "-D", "A=1", "-include",
                                                          "first.h"});
  CHECK(translated({"--no-exceptions", "--debug", "--m64"}) == Words{"-fno-exceptions", "-g", "-m64"});
}

TEST_CASE("macros that nvcc defines for an option") {
  CHECK(translated({"--expt-relaxed-constexpr", "-extended-lambda", "-rdc=true"}) ==
        Words{"-D__CUDACC_RELAXED_CONSTEXPR__", "-D__CUDACC_EXTENDED_LAMBDA__", "-D__CUDACC_RDC__"});
  CHECK(translated({"-rdc=false", "--default-stream", "legacy"}).empty());
  CHECK(translated({"--default-stream", "per-thread"}) == Words{"-DCUDA_API_PER_THREAD_DEFAULT_STREAM"});
  CHECK(translated({"-dc", "-G", "-ewp", "-lto"}) ==
        Words{"-D__CUDACC_RDC__", "-D__CUDACC_DEBUG__", "-D__CUDACC_EWP__", "-D__CUDACC_RDC__"});
}

TEST_CASE("of many architectures the newest, with all its features") {
  const auto newest = [](const Words& arguments) { return translated(arguments).at(0); };
  CHECK(newest({"--generate-code=arch=compute_80,code=[compute_80,sm_80]", "-gencode",
                "arch=compute_90,code=sm_90"}) == "--cuda-gpu-arch=sm_90");
  CHECK(newest({"-arch=sm_90", "-gencode=arch=compute_90a,code=sm_90a"}) == "--cuda-gpu-arch=sm_90a");
  CHECK(newest({"-gencode=arch=compute_100f,code=sm_100f", "-arch", "sm_90a"}) == "--cuda-gpu-arch=sm_100");
  CHECK(newest({"-gencode=arch=compute_90,code=[sm_90,compute_90]"}) == "--cuda-gpu-arch=sm_90");
  CHECK(translated({"-arch=native", "-gencode=arch=compute_999,code=sm_999"}).empty());
}

TEST_CASE("a CUDA source is parsed once, for the host, whatever compiled it") {
  for (const char* compiler : {"/usr/local/cuda/bin/nvcc", "clang++"}) {
    const Words command = adjusted_command({"/p", "/p/a.cu", {compiler, "-std=c++17", "-c", "a.cu"}}, {});
    CHECK(has(command, "--cuda-host-only"));
    CHECK(has(command, "-std=c++17"));
    CHECK(std::count(command.begin(), command.end(), "-x") == 1);
  }
  CHECK_FALSE(has(adjusted_command({"/p", "/p/a.cpp", {"nvcc", "a.cpp"}}, {}), "--cuda-host-only"));
}

TEST_CASE("the folders of the toolkit that nvcc finds by itself") {
  namespace fs = std::filesystem;
  const fs::path toolkit = fs::temp_directory_path() / ("toolkit-" + std::to_string(::getpid()));
  fs::create_directories(toolkit / "include" / "cccl");
  std::ofstream(toolkit / "include" / "cuda_runtime.h") << "\n";
  const std::string nvcc = toolkit / "bin" / "nvcc";
  const std::string libraries = toolkit / "include" / "cccl";
  const Words cuda = adjusted_command({"/p", "/p/a.cu", {nvcc, "a.cu"}}, {});
  CHECK(has(cuda, libraries));
  CHECK(has(cuda, "--cuda-path=" + toolkit.string()));
  CHECK(has(adjusted_command({"/p", "/p/a.cu", {"g++", "--cuda-path=" + toolkit.string(), "a.cu"}}, {}),
            libraries));
  const Words host = adjusted_command({"/p", "/p/a.cpp", {nvcc, "a.cpp"}}, {});
  CHECK(has(host, libraries));
  CHECK(has(host, toolkit / "include"));
  fs::remove_all(toolkit / "include" / "cccl");
  CHECK_FALSE(has(adjusted_command({"/p", "/p/a.cu", {nvcc, "a.cu"}}, {}), libraries));
  fs::remove_all(toolkit);
}

}  // namespace dtype_guard::clang_front_end
