import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import type { ReadRound } from '../../events/judged-samples.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import { countSamples, readSamples } from '../../query-api/validation/read.ts'

/** Reads the samples of validation rounds from the read models. */
export function roundReader(pool: Pool): ReadRound {
  const db = new Kysely<ValidationTables>({ dialect: new PostgresDialect({ pool }) })
  return async ({ run_id, step: asked, ...page }) => {
    const step = asked ?? (await newestStep(db, run_id))
    const total = step === null ? 0 : await countSamples(db, run_id, { step })
    if (step === null || total === 0) return null
    const sort = { by: 'index', desc: false } as const
    return { step, total, samples: await readSamples(db, run_id, { step }, { ...page, sort }) }
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
