/** How many runs' tests of one file are at work: each starts several processes, and a machine may be slow. */
const atOnce = 4
const waiting: (() => void)[] = []
let working = 0

/** Does the work as soon as fewer than that are at work. */
export async function fewAtOnce(work: () => Promise<void>): Promise<void> {
  if (working === atOnce) await new Promise<void>(resolve => waiting.push(resolve))
  else working++
  try {
    await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else working--
  }
}
