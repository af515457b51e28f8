/* NVML as the driver's library offers it, with the figures of two GPUs; the second one gives no power and no reasons. */
#include <string.h>

typedef struct { unsigned gpu, memory; } utilization;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory;

enum { success = 0, invalid_argument = 2, not_supported = 3, argument_version_mismatch = 25 };
static const int gpus[] = {0, 1};

static int number_of(void *device) { return *(const int *)device; }

int nvmlInit_v2(void) { return success; }

int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return success; }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  if (index > 1) return invalid_argument;
  *device = (void *)&gpus[index];
  return success;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  if (length < 41) return invalid_argument;
  strcpy(uuid, number_of(device) ? "GPU-77aa0b52-31d4-4a0e-b5c1-0f6b6a0a9e42" : "GPU-5f1c7f0a-9d2b-4a57-8d6f-2f1f4f4a6d11");
  return success;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length) {
  if (length < 22) return invalid_argument;
  strcpy(name, "NVIDIA H100 80GB HBM3");
  return device ? success : invalid_argument;
}

int nvmlDeviceGetUtilizationRates(void *device, utilization *rates) {
  rates->gpu = number_of(device) ? 0 : 97;
  rates->memory = number_of(device) ? 0 : 61;
  return success;
}

int nvmlDeviceGetMemoryInfo_v2(void *device, memory *info) {
  if (info->version != (sizeof(memory) | 2 << 24)) return argument_version_mismatch;
  info->total = 85520809984ULL;
  info->used = number_of(device) ? 4194304ULL : 71001178112ULL;
  return success;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  *milliwatts = 640120;
  return number_of(device) ? not_supported : success;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts) {
  *milliwatts = 700000;
  return number_of(device) ? not_supported : success;
}

int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius) {
  *celsius = number_of(device) ? 31 : 66;
  return sensor == 0 ? success : invalid_argument;
}

int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *megahertz) {
  *megahertz = number_of(device) ? 345 : 1980;
  return type == 1 ? success : invalid_argument;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
  *reasons = 0x1 | 0x4 | 0x40;
  return number_of(device) ? not_supported : success;
}
