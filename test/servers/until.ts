/** Asks again and again until `ask` answers something; throws when that takes longer than `withinMs`. */
export async function until<T>(
  what: string,
  withinMs: number,
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms and still not: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
