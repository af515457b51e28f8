type Ask<Answer> = {
  names: readonly string[]
  signal: AbortSignal | undefined
  resolve: (answers: Answer[]) => void
  reject: (error: unknown) => void
}

/** Reads some names of a place, and returns them in their order. */
export type Read<Answer> = (
  place: string,
  names: readonly string[],
  signal: AbortSignal,
) => Promise<Answer[]>

/**
 * Joins reads of one place requested within `waitMs` into a few of at most `most` names each: a page of charts
 * would otherwise queue behind the six connections that browsers open. A read that nobody waits for any longer is aborted.
 */
export function batched<Answer>(
  read: Read<Answer>,
  { most, waitMs }: { most: number; waitMs: number },
) {
  const waiting = new Map<string, Ask<Answer>[]>()
  const flush = (place: string) => {
    const asks = waiting.get(place) ?? []
    waiting.delete(place)
    for (const group of grouped(asks, most)) void send(read, place, group)
  }
  return (place: string, names: readonly string[], signal?: AbortSignal): Promise<Answer[]> =>
    new Promise((resolve, reject) => {
      const ask = { names, signal, resolve, reject }
      const others = waiting.get(place)
      if (others) others.push(ask)
      else {
        waiting.set(place, [ask])
        setTimeout(() => flush(place), waitMs)
      }
    })
}

/** In request order; a request that exceeds `most` on its own stays whole. */
function grouped<Answer>(asks: readonly Ask<Answer>[], most: number): Ask<Answer>[][] {
  const groups: Ask<Answer>[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const ask of asks) {
    if (size + ask.names.length > most) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(ask)
    size += ask.names.length
  }
  return groups
}

async function send<Answer>(
  read: Read<Answer>,
  place: string,
  asks: readonly Ask<Answer>[],
): Promise<void> {
  const given = new AbortController()
  const leave = () => {
    if (asks.every(({ signal }) => signal?.aborted)) given.abort()
  }
  for (const { signal } of asks) signal?.addEventListener('abort', leave)
  leave()
  const names = [...new Set(asks.flatMap(ask => ask.names))]
  try {
    const answers = await read(place, names, given.signal)
    const byName = new Map(names.map((name, nth) => [name, answers[nth]]))
    for (const ask of asks)
      ask.resolve(ask.names.flatMap(name => byName.get(name) ?? []) as Answer[])
  } catch (error) {
    for (const { reject } of asks) reject(error)
  } finally {
    for (const { signal } of asks) signal?.removeEventListener('abort', leave)
  }
}
