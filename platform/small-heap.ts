import { setFlagsFromString } from 'node:v8'

/**
 * Lets the heap of this process grow in small steps, for work that passes bytes through and keeps none: garbage is
 * collected before more memory is asked for. Node has the flags on its command line only, which is one for all roles;
 * V8 reads both of these each time a heap grows, so they take effect after the start, too.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20')
  setFlagsFromString('--semi-space-growth-factor=1')
}
