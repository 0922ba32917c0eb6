/* flash_ref/observer.h: how a tool watches the calls of one copy of flash_ref.
 *
 * Interposition reaches only calls that the dynamic linker binds. A copy that was linked statically, hidden,
 * or opened with RTLD_LOCAL has instead one observer slot, which sees every call of every function that a
 * contract describes, before and after the kernel.
 *
 * Finding the slot. Each copy carries an allocated ELF note: owner "flash_ref", type
 * FLASH_REF_OBSERVER_NOTE, whose eight bytes are the distance from their own address to the copy's
 * flash_ref_observer_slot. It lies in a PT_NOTE segment, which strip keeps, so dl_iterate_phdr() finds it.
 * Besides, when a copy is loaded it calls the function
 *
 *     void dtype_san_announce(const flash_ref_observer_slot* slot);
 *
 * once, if the global scope has one. A slot is ready before any constructor runs.
 *
 * Observing. Fill a flash_ref_observer that outlives its registration and give it to slot->add. Observers
 * chain: each sees each call, the last one added first, those that stay forever after the others. Callbacks
 * run on the calling thread, inside the call; they must not throw, and must treat descriptors as the
 * caller's, which may be wrong. Calls that they make themselves are observed like others. slot->remove
 * returns when no call can use the observer any more.
 *
 * This header compiles as C99 and C++. Structs grow at their end, and struct_size tells how far. */
#ifndef FLASH_REF_OBSERVER_H_
#define FLASH_REF_OBSERVER_H_

#include <dlpack/dlpack.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLASH_REF_OBSERVER_VERSION 1
#define FLASH_REF_OBSERVER_NOTE 1

enum flash_ref_phase {
  FLASH_REF_BEFORE = 1, /* nothing has been checked or written yet */
  FLASH_REF_AFTER = 2   /* status is set */
};

typedef struct flash_ref_call_event {
  uint32_t struct_size;           /* sizeof(flash_ref_call_event) */
  uint32_t phase;                 /* flash_ref_phase */
  uint32_t api_index;             /* of slot->apis */
  uint32_t tensor_count;          /* of roles and tensors */
  const char* api;                /* the function's name */
  const char* const* roles;       /* names of the tensors, as the contract has them */
  const DLTensor* const* tensors; /* as the caller gave them: NULL or nonsense is possible */
  const void* options;            /* the function's options struct, may be NULL */
  const void* caller;             /* return address into the caller */
  int32_t status;                 /* flash_ref_status; 0 in FLASH_REF_BEFORE */
  uint32_t reserved;
} flash_ref_call_event;

enum flash_ref_observer_flags {
  FLASH_REF_OBSERVE_BEFORE = 1,
  FLASH_REF_OBSERVE_AFTER = 2,
  FLASH_REF_OBSERVE_FOREVER = 4 /* never removed: its calls need not be counted, which is faster */
};

typedef struct flash_ref_observer {
  uint32_t struct_size; /* sizeof(flash_ref_observer) */
  uint32_t flags;       /* flash_ref_observer_flags */
  void (*notify)(void* context, const flash_ref_call_event* event);
  void* context;
  struct flash_ref_observer* next; /* the slot's own */
} flash_ref_observer;

enum flash_ref_observer_status {
  FLASH_REF_OBSERVER_OK = 0,
  FLASH_REF_OBSERVER_BAD = 1,    /* add: struct_size, flags or notify is not usable, or it is there already;
                                    remove: it was added to stay forever */
  FLASH_REF_OBSERVER_ABSENT = 2, /* remove: not in this slot */
  FLASH_REF_OBSERVER_INSIDE = 3  /* remove: this thread is inside an observed call, so waiting never ends */
};

typedef struct flash_ref_observer_slot {
  uint32_t struct_size; /* sizeof(flash_ref_observer_slot) */
  uint32_t version;     /* FLASH_REF_OBSERVER_VERSION */
  uint32_t abi_version; /* flash_ref_abi_version() of this copy */
  uint32_t api_count;
  const char* const* apis; /* names of the observed functions */
  int (*add)(flash_ref_observer* observer);
  /* Waits for the calls in flight. An observer added or removed while a call runs may get one of its two
   * events only if that is FLASH_REF_BEFORE. */
  int (*remove)(flash_ref_observer* observer);
} flash_ref_observer_slot;

#ifdef __cplusplus
}
#endif

#endif /* FLASH_REF_OBSERVER_H_ */
