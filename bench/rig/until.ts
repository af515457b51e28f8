export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

/** Asks until the answer is true; throws, naming what was waited for, when the time is over. */
export async function untilTrue(
  what: string,
  withinMs: number,
  isTrue: () => boolean | Promise<boolean>,
  everyMs = 50,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain until ${what}`)
    await pause(everyMs)
  }
}
