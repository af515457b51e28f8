import type { ReflowRule } from '../../schemas/reflows.ts'
import type { Deps } from '../deps.ts'
import type { Asking } from '../rules/access.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import type { Candidate } from './candidate.ts'
import { capturedPages } from './captured.ts'
import type { ReflowSources } from './port.ts'
import type { Page } from './take.ts'

type Of = { rule: Pick<ReflowRule, 'source'>; caller: Asking; after: number; until: number }
type On = { deps: Deps; sources: ReflowSources }

const rowsOfPage = 200

/** The source page by page, as the caller may read it now; refuses a hidden or forbidden one. */
export async function* pagesOf(on: On, of: Of): AsyncGenerator<Page> {
  const { deps, sources } = on
  const { source } = of.rule
  if (source.type === 'traffic') {
    const asked = source.deployment_id ?? ''
    const deployment_id = await sources.deploymentOf(deps, of.caller, asked)
    const opening = { pool: deps.pool, sealing: deps.sealing, digestOf: sources.sampleDigest }
    yield* capturedPages(opening, { deployment_id, after: of.after, until: of.until })
  } else if (source.type === 'samples') yield* samplePages(on, of)
  else yield* answerPages(on, of)
}

async function* samplePages({ deps, sources }: On, { rule, caller }: Of): AsyncGenerator<Page> {
  const { run_id: asked, step } = rule.source
  const { run_id } = await runToActOn(deps.pool, {
    ...{ asked: asked ?? '', caller, action: 'read', noun: 'run' },
  })
  for (let offset = 0; ; ) {
    const page = await deps.readRound({ run_id, step, offset, limit: rowsOfPage })
    if (!page || page.samples.length === 0) return
    offset += page.samples.length
    yield {
      reached: null,
      looked: page.samples.map(sample => {
        const { sample_id, sample_key, user, assistant, reward, extra } = sample
        if (user === null || assistant === null) return 'unreadable'
        const origin = `sample:${run_id}/${sample_id}`
        return {
          ...{ source: origin, kind: 'chat', at: null, of: null },
          row: {
            messages: [
              { role: 'user', content: user },
              { role: 'assistant', content: assistant },
            ],
          },
          provenance: { source: origin, run_id, step: page.step, reward },
          words: { key: sample_key },
          numbers: { step: page.step, reward: typeof reward === 'number' ? reward : null },
          sample: sources.sampleDigest({ user, assistant, extra }),
        }
      }),
    }
  }
}

async function* answerPages({ deps, sources }: On, { rule, caller }: Of): AsyncGenerator<Page> {
  const queue_id = rule.source.queue_id ?? ''
  const { kind, rows } = await sources.answersOf(deps, caller, queue_id)
  for (let from = 0; from < rows.length; from += rowsOfPage)
    yield {
      reached: null,
      looked: rows.slice(from, from + rowsOfPage).map((row, nth): Candidate => {
        const { annotation, ...fields } = row as Record<string, unknown>
        const source = `annotation:${queue_id}/${from + nth + 1}`
        const { score } = fields
        return {
          ...{ source, kind, row: fields, at: null, of: null, sample: null },
          provenance: { source, queue_id, annotation },
          words: { kind },
          numbers: { score: typeof score === 'number' ? score : null },
        }
      }),
    }
}
