import { type Route, route } from '../../auth/route.ts'
import { reflowAt } from '../../events/reflows.ts'
import {
  eraseInput,
  reflowCreated,
  reflowDeleted,
  reflowErased,
  reflowInput,
  reflowPath,
  reflowPreview,
  reflowRunInput,
  reflowRunStarted,
} from '../../schemas/reflows.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { createReflowOf } from './create.ts'
import { deleteReflow } from './decide.ts'
import { eraseRows } from './erase.ts'
import { reflowFor } from './find.ts'
import type { ReflowPorts } from './port.ts'
import { previewReflow } from './preview.ts'
import { saveReflow } from './rows.ts'
import { runReflow } from './run.ts'

const common = { credential: 'person', reach: 'its_people', tag: 'reflows' } as const

export const reflowRoutes = (deps: Deps, ports: ReflowPorts): Route[] => [
  route({
    ...common,
    method: 'POST',
    path: '/api/reflows',
    summary: 'Create a reflow: a rule that makes a dataset from traffic, samples or annotations',
    body: reflowInput,
    response: reflowCreated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => createReflowOf(deps, ports.reflowSources, request),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/api/reflows/{reflow_id}/preview',
    summary: 'Preview the rows of the next firing, scrubbed; nothing is stored',
    params: reflowPath,
    response: reflowPreview,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => previewReflow(deps, ports.reflowSources, request),
  }),
  route({
    ...common,
    method: 'POST',
    path: '/api/reflows/{reflow_id}/run',
    summary: 'Fire a reflow: make the next version of its dataset, once for each window',
    params: reflowPath,
    body: reflowRunInput,
    response: reflowRunStarted,
    refusals: ['not_found', 'conflict'],
    handle: request => runReflow(deps, request),
  }),
  route({
    ...common,
    method: 'DELETE',
    path: '/api/reflows/{reflow_id}',
    summary: 'Delete a reflow; the versions that it made stay',
    params: reflowPath,
    response: reflowDeleted,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const { reflow_id } = request.params
      await reflowFor(deps, reflow_id, request.caller)
      await commit(deps, request, reflowAt(reflow_id), {
        decide: reflow => deleteReflow(reflow, reflow_id),
        alongside: saveReflow,
      })
      return { ok: true as const, reflow_id }
    },
  }),
  route({
    ...common,
    method: 'POST',
    path: '/api/reflows/erase',
    summary:
      'Erase the captured requests of a person or a token, and list the versions and models made of earlier ones',
    body: eraseInput,
    response: reflowErased,
    refusals: ['forbidden', 'not_found', 'conflict'],
    handle: request => eraseRows(deps, ports, request),
  }),
]
