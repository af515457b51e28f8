/** How long a person's reads wait for their own writes, in milliseconds. */
const rememberedMs = 10_000
const maxPerPerson = 8

export type RecentWrites = {
  remember(username: string, position: string): void
  /** Positions this person wrote in the last 10 seconds. */
  of(username: string): string[]
}

/** Lets clients without `Forge-Wait-For` read their own writes: a list after a submit shows the job. */
export function recentWrites(): RecentWrites {
  const writes = new Map<string, { position: string; at: number }[]>()
  const fresh = (username: string) => {
    const after = performance.now() - rememberedMs
    return (writes.get(username) ?? []).filter(write => write.at > after)
  }
  return {
    remember(username, position) {
      const others = fresh(username).filter(write => write.position !== position)
      writes.set(username, [...others, { position, at: performance.now() }].slice(-maxPerPerson))
    },
    of(username) {
      const found = fresh(username)
      if (found.length === 0) writes.delete(username)
      return found.map(write => write.position)
    },
  }
}
