import { type Kysely, sql } from 'kysely'
import type { Recorded } from '../../events/event.ts'
import type { HparamsEvent } from '../../events/hparams.ts'
import { numberPattern } from '../../schemas/runs/search-words.ts'
import type { Handlers } from '../projection.ts'
import type { HparamTables, Scalar } from './table.ts'

type Tx = Kysely<HparamTables>

export const hparamsProjection: Handlers<HparamTables, HparamsEvent> = {
  'hparams.set': async (tx, event) => {
    const { run_id, added, changed } = event.data
    const news = Object.fromEntries(changed.map(({ key, to }) => [key, to]))
    await tx
      .insertInto('run_hparams')
      .values({ run_id, params: JSON.stringify({ ...added, ...news }) })
      .onConflict(on =>
        on.column('run_id').doUpdateSet({ params: sql`run_hparams.params || excluded.params` }),
      )
      .execute()
    await setValues(tx, run_id, { ...added, ...news })
    if (changed.length > 0) await addChanges(tx, event)
  },
}

/** Texts longer than this cannot be searched for. */
const comparedChars = 256

async function setValues(tx: Tx, runId: string, params: Record<string, Scalar>): Promise<void> {
  const values = Object.entries(params)
  await sql`
    insert into run_hparam_values (run_id, key, text, number)
    select ${runId}, key, text, number
      from unnest(${values.map(([key]) => key)}::text[], ${values.map(([, value]) => scalarText(value))}::text[],
                  ${values.map(([, value]) => numberOf(value))}::float8[]) as given (key, text, number)
        on conflict (run_id, key) do update set text = excluded.text, number = excluded.number`.execute(
    tx,
  )
}

const scalarText = (value: Scalar) => [...String(value)].slice(0, comparedChars).join('')

/** Includes numbers that were reported as text. */
function numberOf(value: Scalar): number | null {
  if (typeof value === 'number') return value
  const isNumber = typeof value === 'string' && value.length < 64 && numberPattern.test(value)
  return isNumber && Number.isFinite(Number(value)) ? Number(value) : null
}

const addChanges = (tx: Tx, { data, stream_version, occurred_at }: Recorded<HparamsEvent>) =>
  sql`
    insert into run_hparam_changes (run_id, version, place, key, "from", "to", at)
    select ${data.run_id}, ${stream_version}, place, change ->> 'key', change -> 'from', change -> 'to', ${occurred_at}
      from jsonb_array_elements(${JSON.stringify(data.changed)}::jsonb) with ordinality c (change, place)`.execute(
    tx,
  )
