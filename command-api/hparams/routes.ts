import { type Route, route } from '../../auth/route.ts'
import { hparamsAt } from '../../events/hparams.ts'
import { hparamsInput, hparamsReply } from '../../schemas/hparams.ts'
import { commit } from '../commit.ts'
import type { Deps } from '../deps.ts'
import { setHparams } from './decide.ts'

export const hparamsRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/hparams',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Add hyperparameters of a run, or change some',
    body: hparamsInput,
    bodyLimitBytes: 16 * 1024 * 1024,
    response: hparamsReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const { run_id, params } = request.body
      const { events, state } = await commit(deps, request, hparamsAt(run_id), {
        decide: hparams => setHparams(hparams, run_id, params),
      })
      const set = events[0]?.data
      return {
        ok: true,
        added: Object.keys(set?.added ?? {}).length,
        changed: set?.changed.length ?? 0,
        total: Object.keys(state).length,
      }
    },
  }),
]
