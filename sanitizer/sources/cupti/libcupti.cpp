#include "sanitizer/sources/cupti/libcupti.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "sanitizer/platform/loaded_object.h"
#include "sanitizer/platform/own_code.h"
#include "sanitizer/platform/system.h"

namespace dtype_guard::san::cupti {

namespace {

// Not through std::string_view's members that may throw, which need libstdc++.
const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool has_prefix(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// As a loaded libc has it: a reference here would ask for the newest version of the symbol.
void* open_library(const char* path) {
  void* (*open)(const char*, int) = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    const char* name = file_name(object.path);
    if (!has_prefix(name, "libc.so.6") && !has_prefix(name, "libdl.so.2")) return true;
    void* address = object.find_function("dlopen");
    memcpy(&open, &address, sizeof open);
    return open == nullptr;
  });
  return open != nullptr ? open(path, RTLD_LAZY | RTLD_LOCAL) : nullptr;
}

// The loader maps what the headers promise and dies of SIGBUS where a file was cut short.
bool is_whole(const char* path) {
  const long opened = open_file(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (opened < 0) return false;
  const auto file = static_cast<int>(opened);
  char bytes[2048];
  FileStatus status;
  const long size = read_bytes(file, bytes, sizeof bytes);
  bool whole = file_status(file, status) && size >= static_cast<long>(sizeof(ElfW(Ehdr)));
  close_file(file);
  if (!whole) return false;
  ElfW(Ehdr) header;
  memcpy(&header, bytes, sizeof header);
  whole = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == sizeof(ElfW(Phdr)) &&
          header.e_phoff <= static_cast<std::size_t>(size) &&
          header.e_phnum * sizeof(ElfW(Phdr)) <= static_cast<std::size_t>(size) - header.e_phoff;
  for (std::size_t i = 0; whole && i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
    whole = segment.p_offset <= status.size && segment.p_filesz <= status.size - segment.p_offset;
  }
  return whole;
}

template <typename Function>
void take(Function& function, void* address) {
  memcpy(&function, &address, sizeof function);
}

void* find_in(const char* library, const char* name) {
  void* address = nullptr;
  each_loaded_object([&](const LoadedObject& object) {
    if (has_prefix(file_name(object.path), library)) address = object.find_function(name);
    return address == nullptr;
  });
  return address;
}

// Calls visit(object) with the object that has CUPTI's functions: libcupti, else whatever library contains
// it.
template <typename Visitor>
bool with_cupti(Visitor&& visit) {
  for (const bool by_name : {true, false}) {
    bool found = false;
    each_loaded_object([&](const LoadedObject& object) {
      found = !is_own_code(object.bias) && (by_name ? has_prefix(file_name(object.path), "libcupti.so")
                                                    : object.find_function("cuptiEnableCallback") != nullptr);
      if (found) visit(object);
      return !found;
    });
    if (found) return true;
  }
  return false;
}

bool find_loaded(Functions& functions) {
  return with_cupti([&](const LoadedObject& object) {
    take(functions.subscribe, object.find_function("cuptiSubscribe"));
    take(functions.subscribe_v2, object.find_function("cuptiSubscribe_v2"));
    take(functions.unsubscribe, object.find_function("cuptiUnsubscribe"));
    take(functions.enable_callback, object.find_function("cuptiEnableCallback"));
    take(functions.result_string, object.find_function("cuptiGetResultString"));
  });
}

// The path of libcupti as NVIDIA's layouts have it beside libcudart: in the same folder (CUDA 13 wheels), in
// a toolkit's extras, in a sibling package (CUDA 12 wheels). Of the same major version, which the file's name
// ends with.
bool open_beside_runtime(TextSink& reason) {
  TextBuffer<1024> folder;
  TextBuffer<32> version;
  each_loaded_object([&](const LoadedObject& object) {
    constexpr char kRuntime[] = "libcudart.so";
    const char* name = file_name(object.path);
    if (!has_prefix(name, kRuntime)) return true;
    folder << std::string_view(object.path, static_cast<std::size_t>(name - object.path));
    for (const char* c = name + sizeof kRuntime - 1; *c != '\0'; ++c) {
      if (*c == '.' && version.size() > 0) break;
      version << *c;
    }
    return false;
  });
  if (folder.size() == 0) {
    reason << "no libcupti is loaded, and no libcudart that one could lie beside";
    return false;
  }
  for (const std::string_view place : {"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/"}) {
    TextBuffer<1200> path;
    path << folder.view() << place << "libcupti.so" << version.view();
    if (is_whole(path.c_str()) && open_library(path.c_str()) != nullptr) return true;
  }
  reason << "no libcupti is loaded, and none beside libcudart in '" << folder.view() << "' can be opened";
  return false;
}

}  // namespace

bool find_cupti(Functions& functions, TextSink& reason) {
  if (find_loaded(functions)) return true;
  if (!open_beside_runtime(reason)) return false;
  if (find_loaded(functions)) return true;
  reason << "the libcupti beside libcudart has none of CUPTI's functions";
  return false;
}

void* find_in_cupti(const char* name) {
  void* address = nullptr;
  (void)with_cupti([&](const LoadedObject& object) { address = object.find_function(name); });
  return address;
}

Driver find_driver() {
  Driver driver;
  const auto driver_function = [](const char* name) { return find_in("libcuda.so", name); };
  take(driver.parameter_info, driver_function("cuFuncGetParamInfo"));
  take(driver.kernel_parameter_info, driver_function("cuKernelGetParamInfo"));
  take(driver.is_capturing, driver_function("cuStreamIsCapturing"));
  take(driver.create_event, driver_function("cuEventCreate"));
  take(driver.record_event, driver_function("cuEventRecord"));
  take(driver.query_event, driver_function("cuEventQuery"));
  take(driver.elapsed_time, driver_function("cuEventElapsedTime"));
  return driver;
}

bool is_driver_initialised() {
  DriverResult (*count_devices)(int*) = nullptr;
  take(count_devices, find_in("libcuda.so", "cuDeviceGetCount"));
  int devices = 0;
  return count_devices != nullptr && count_devices(&devices) == 0;
}

bool has_runtime_without_driver() {
  bool runtime = false, driver = false;
  each_loaded_object([&](const LoadedObject& object) {
    const char* name = file_name(object.path);
    runtime = runtime || has_prefix(name, "libcudart.so");
    driver = driver || has_prefix(name, "libcuda.so");
    return true;
  });
  return runtime && !driver;
}

}  // namespace dtype_guard::san::cupti
