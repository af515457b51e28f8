import type { AnnotationReader } from '../../command-api/annotations/create.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ReadTables } from '../../query-api/compose.ts'
import { findDataset, findVersion, refuseUnlessUser } from '../../query-api/datasets/find.ts'
import { pageOfRows, type Store } from '../../query-api/datasets/rows.ts'
import type { Reads } from '../../query-api/reading/reads.ts'
import { findRun } from '../../query-api/rules/access.ts'
import { readSamples } from '../../query-api/validation/read.ts'
import { parseDatasetReference } from '../../schemas/datasets/reference.ts'

const rowsOfPage = 500
const byStep = { by: 'step', desc: false } as const

/** Reads samples and rows as the caller, from the read models, for queues that are being created. */
export const annotationReader = (reads: Reads<ReadTables>, store: Store): AnnotationReader => ({
  async samples(caller, { run_id: id, step }, most) {
    const { run_id, project, db } = await findRun(reads, caller, id)
    const samples = await upTo(most, async (offset, limit) => {
      const which = step === null ? {} : { step }
      return readSamples(db, run_id, which, { limit, offset, sort: byStep })
    })
    return { run_id, project, samples: samples.map(sample => ({ ...sample, run_id })) }
  },
  async rows(caller, { ref, split: asked }, most) {
    const { owner, name, version } = parseDatasetReference(ref) ?? missing(ref)
    const found = await findDataset(reads, caller, { owner, name })
    const row = await findVersion(found, { owner, name, version: version ?? missing(ref) })
    refuseUnlessUser(found)
    const { split, total } = await page(0, 1)
    const rows = await upTo(most, async (from, limit) => (await page(from, limit)).rows)
    return { kind: row.kind, split, total, rows }

    function page(from: number, limit: number) {
      return pageOfRows(store, row, { from, limit, ...(asked !== null && { split: asked }) })
    }
  },
})

const missing = (ref: string): never => {
  throw new Refusal('not_found', `No such dataset version: ${ref}`)
}

/** Page after page, until there are no more, or enough. */
async function upTo<T>(
  most: { rows: number; characters: number },
  read: (offset: number, limit: number) => Promise<T[]>,
): Promise<T[]> {
  const all: T[] = []
  let characters = 0
  while (all.length < most.rows) {
    const page = await read(all.length, Math.min(rowsOfPage, most.rows - all.length))
    if (page.length === 0) break
    all.push(...page)
    characters += JSON.stringify(page).length
    if (characters > most.characters) break
  }
  return all
}
