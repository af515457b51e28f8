import type { Pool } from 'pg'

/** Hands out the numbers of short ids. */
export type ShortNumbers = {
  /** The next number of an existing project. */
  take(project: string): Promise<number>
}

type Waiting = { resolve(number: number): void; reject(error: unknown): void }

/** Maximum submits per statement. */
const atOnce = 1000

/**
 * Takes the numbers of all waiting submits in their order of arrival, with one statement at a time for each project.
 *
 * `loosePool` commits without waiting for the disk. A crash of PostgreSQL cannot make it hand out the number of an existing
 * run again: that run was committed later, and a later commit makes the earlier ones durable.
 */
export function createShortNumbers(loosePool: Pool): ShortNumbers {
  /** The submits that wait for the statement under way; a project without an entry has none. */
  const waiting = new Map<string, Waiting[]>()

  const serve = async (project: string) => {
    // Submits of one group ask in the same turn of the event loop, and share the first statement.
    await Promise.resolve()
    for (;;) {
      const served = waiting.get(project)?.splice(0, atOnce) ?? []
      if (served.length === 0) {
        waiting.delete(project)
        return
      }
      await takeFor(loosePool, project, served)
    }
  }

  return {
    take: project =>
      new Promise((resolve, reject) => {
        const queue = waiting.get(project)
        if (queue) {
          queue.push({ resolve, reject })
          return
        }
        waiting.set(project, [{ resolve, reject }])
        void serve(project)
      }),
  }
}

/** Never rejects: a fault is that of the submits it serves. */
async function takeFor(pool: Pool, project: string, served: readonly Waiting[]): Promise<void> {
  try {
    const { rows } = await pool.query<{ last_short: number }>({
      name: 'take_short_numbers',
      text: 'update write.project set last_short = last_short + $2 where name = $1 returning last_short',
      values: [project, served.length],
    })
    const [row] = rows
    if (!row) throw new Error(`there is no project ${project}`)
    const first = row.last_short - served.length + 1
    for (const [index, { resolve }] of served.entries()) resolve(first + index)
  } catch (error) {
    for (const { reject } of served) reject(error)
  }
}
