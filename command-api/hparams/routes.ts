import { type Route, route } from '../../auth/route.ts'
import { hparamsAt } from '../../events/hparams.ts'
import { hparamsInput, hparamsReply } from '../../schemas/hparams.ts'
import { answerPosition, type Deps, stampOf } from '../deps.ts'
import { handle } from '../handle.ts'
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
      const { events, state, position } = await handle(
        deps.store,
        { ...hparamsAt(run_id), stamp: stampOf(request, deps.now()) },
        hparams => setHparams(hparams, run_id, params),
      )
      answerPosition(deps, request, position)
      const set = events[0]?.data
      return {
        ok: true,
        added: Object.keys(set?.added ?? {}).length,
        changed: set?.changed.length ?? 0,
        total: state.size,
      }
    },
  }),
]
