/* The header from C99: it compiles, all-zero options are the defaults, and the functions link. */
#include <flash_ref/flash_ref.h>
#include <string.h>

int flash_ref_abi_test(void);

int flash_ref_abi_test(void) {
  int64_t shape[4] = {1, 1, 1, 1};
  uint16_t q = 0x3c00, k = 0x3c00, v = 0x4000, out = 0; /* 1, 1 and 2 in float16 */
  flash_ref_attention_options options;
  DLTensor tensors[4];
  uint16_t* data[4];
  int i;
  data[0] = &q, data[1] = &k, data[2] = &v, data[3] = &out;
  memset(tensors, 0, sizeof tensors);
  for (i = 0; i < 4; ++i) {
    tensors[i].data = data[i];
    tensors[i].device.device_type = (DLDeviceType)1;
    tensors[i].ndim = 4;
    tensors[i].dtype.code = 2;
    tensors[i].dtype.bits = 16;
    tensors[i].dtype.lanes = 1;
    tensors[i].shape = shape;
  }
  memset(&options, 0, sizeof options);
  if (flash_ref_attention_fwd(&tensors[0], &tensors[1], &tensors[2], &tensors[3], NULL, &options) !=
      FLASH_REF_OK)
    return 1;
  if (out != v) return 2;
  if (flash_ref_abi_version() != FLASH_REF_ABI_VERSION) return 3;
  return strcmp(flash_ref_last_error(), "") == 0 ? 0 : 4;
}
