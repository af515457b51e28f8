import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { ReadRound } from '../../events/judged-samples.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import { readSamples } from '../../query-api/validation/read.ts'

/** Reads the samples of validation rounds from the read models. */
export function roundReader(pool: Pool): ReadRound {
  const db = new Kysely<ValidationTables>({ dialect: new PostgresDialect({ pool }) })
  return async ({ run_id, step: asked, limit }) => {
    const step = asked ?? (await newestStep(db, run_id))
    if (step === null) return []
    const sort = { by: 'index', desc: false } as const
    const samples = []
    // A page of very long samples ends early.
    for (let read = 1; read > 0 && samples.length < limit; ) {
      const offset = samples.length
      const page = await readSamples(db, run_id, { step }, { limit: limit - offset, offset, sort })
      read = page.length
      samples.push(...page)
    }
    return samples
  }
}

async function newestStep(db: Kysely<ValidationTables>, run_id: string): Promise<number | null> {
  const row = await db
    .selectFrom('validation_chunks')
    .select(one => one.fn.max('step').as('step'))
    .where('run_id', '=', run_id)
    .executeTakeFirst()
  return row?.step ?? null
}
