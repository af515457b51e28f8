import { Readable } from 'node:stream'
import type { Context } from 'koa'
import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type Facade, mlflowFormat, nothing, storedArtifact } from '../../schemas/mlflow.ts'
import type { Deps } from '../deps.ts'
import { admit, type MlflowPorts, type MlflowRequest } from './target.ts'

/** Receives the files of `artifact_uri` from a client, each in one request. */
export const artifactRoute = (deps: Deps, ports: MlflowPorts, facade: Facade): Route =>
  route({
    method: 'PUT',
    path: `${facade.mount}/api/2.0/mlflow-artifacts/artifacts/{run_id}/{+path}`,
    credential: facade.credential,
    ...(facade.credential === 'person' && { reach: 'its_owner' as const }),
    tag: 'mlflow',
    summary: 'MLflow: store an artifact of a run',
    params: storedArtifact,
    rawBody: 'application/octet-stream',
    response: nothing,
    refusals: ['invalid', 'forbidden', 'not_found', 'conflict', 'length_required', 'too_large'],
    handle: request => store(deps, ports, request),
  })

type Store = MlflowRequest & { params: { run_id: string; path: string }; ctx: Context }

/**
 * Another file under the same path is another artifact; MLflow's clients see the newest. The kind is `eval_report`, from which
 * Forge starts nothing, because these files may be anything.
 */
async function store(deps: Deps, ports: MlflowPorts, request: Store): Promise<object> {
  const { params, ctx } = request
  const filename = checkedPath(params.path)
  const { run_id } = await admit(deps, ports, request, params.run_id)
  const { body, size_bytes } = await fileOf(ctx)
  const content_type = 'application/octet-stream'
  const announced = { filename, size_bytes, content_type, sha256: null }
  const { upload_id } = await ports.announce(request, announced, run_id)
  await deps.artifacts.receive(upload_id, 0, body)
  const stored = await ports.complete(request, { run_id, upload_id })
  const artifact = { run_id, kind: 'eval_report', format: mlflowFormat, upload_id } as const
  await ports.registerArtifact(request, { ...artifact, ...stored })
  return {}
}

/** A path below the artifacts of a run, as MLflow's own server wants it. */
function checkedPath(path: string): string {
  const parts = path.split('/')
  const isBad = (part: string) => part === '' || part === '.' || part === '..'
  if (parts.some(isBad)) throw new Refusal('invalid', `Invalid path: ${path}`)
  return path
}

/** MLflow's client announces the length of every file except an empty one. */
async function fileOf(ctx: Context): Promise<{ body: Readable; size_bytes: number }> {
  const length = ctx.get('content-length')
  if (ctx.get('transfer-encoding') === '' && /^\d{0,15}$/.test(length))
    return { body: ctx.req, size_bytes: Number(length) }
  for await (const _ of ctx.req)
    throw new Refusal(
      'length_required',
      'An artifact needs Content-Length: the number of its bytes',
    )
  return { body: Readable.from([]), size_bytes: 0 }
}
