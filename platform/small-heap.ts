import { setFlagsFromString } from 'node:v8'

/**
 * Makes the heap of this process grow in small steps, for work that passes bytes through and keeps none: garbage is
 * collected before more memory is requested. Node offers these flags only on its command line, which all roles share;
 * V8 reads both of these each time a heap grows, so they also take effect after the start.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20')
  setFlagsFromString('--semi-space-growth-factor=1')
}
