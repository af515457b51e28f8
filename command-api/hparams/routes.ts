import { type Route, route } from '../../auth/route.ts'
import { hparamsAt } from '../../events/hparams.ts'
import { hparamsInput, hparamsReply } from '../../schemas/hparams.ts'
import { commit } from '../commit/commit.ts'
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
    bodyLimitBytes: 1024 * 1024,
    response: hparamsReply,
    refusals: ['forbidden', 'invalid', 'conflict', 'too_large'],
    async handle(request) {
      await deps.reports.admit(request)
      const { run_id, params } = request.body
      const { events, state } = await commit(deps, request, hparamsAt(run_id), {
        decide: hparams => setHparams(hparams, run_id, params),
      })
      return {
        ok: true,
        added: events.reduce((sum, { data }) => sum + Object.keys(data.added).length, 0),
        changed: events.reduce((sum, { data }) => sum + data.changed.length, 0),
        total: Object.keys(state).length,
      }
    },
  }),
]
