import { type Static, Type } from 'typebox'
import { byName, closed, nullable, oneOf, timestamp } from './shared.ts'

/** Largest body, in bytes. */
export const maxEnvironmentBodyBytes = 256 * 1024
/** Maximum machines per call, and per run. */
export const maxNodesOfCall = 1000
export const maxNodes = 10_000

const text = (maxLength = 4096) => Type.Optional(nullable(Type.String({ maxLength })))
const whole = () =>
  Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })))

const gpus = Type.Optional(
  nullable(
    Type.Array(
      closed({
        index: whole(),
        name: text(256),
        uuid: text(256),
        mem_total_bytes: whole(),
        arch: text(256),
      }),
      { maxItems: 1024 },
    ),
  ),
)

const git = closed({
  remote: text(),
  commit: text(256),
  branch: text(1024),
  dirty: Type.Optional(nullable(Type.Boolean())),
})

/** A process's report about itself, its packages and its machine. */
const picture = {
  captured_at: Type.Optional(nullable(timestamp())),
  os: text(),
  kernel: text(),
  hostname: text(),
  python: text(),
  executable: text(),
  command: text(65_536),
  cwd: text(),
  image: text(),
  image_digest: text(),
  cuda_version: text(256),
  cuda_driver: text(256),
  cudnn: text(256),
  nccl: text(256),
  torch: text(256),
  packages: Type.Optional(
    nullable(byName(Type.String({ maxLength: 256 }), { maxProperties: 5000 })),
  ),
  env: Type.Optional(nullable(byName(Type.String({ maxLength: 8192 }), { maxProperties: 1000 }))),
  git: Type.Optional(nullable(git)),
  gpus,
  gpu_count: whole(),
  cpu_model: text(256),
  cpu_count: whole(),
  cpu_count_logical: whole(),
  mem_total_bytes: whole(),
  world_size: whole(),
  local_world_size: whole(),
  launcher: text(256),
  scheduler: Type.Optional(nullable(closed({ kind: text(256), job_id: text(256) }))),
}

const runId = Type.String({ minLength: 1, maxLength: 128 })

/** The body of `POST /api/ingest/environment`. */
export const environmentInput = closed({ run_id: runId, ...picture })

/** `changed`: the run had reported a different environment before. */
export const environmentReply = Type.Object({
  ok: Type.Literal(true),
  digest: Type.String(),
  changed: Type.Boolean(),
})

const node = closed({
  node: Type.String({ minLength: 1, maxLength: 256 }),
  node_rank: whole(),
  hostname: text(),
  ip: text(256),
  gpus,
  gpu_count: whole(),
  cuda_driver: text(256),
  cpu_model: text(256),
  cpu_count: whole(),
  mem_total_bytes: whole(),
  disk_total_bytes: whole(),
  nics: Type.Optional(
    nullable(
      Type.Array(
        closed({
          name: text(256),
          speed_gbps: Type.Optional(nullable(Type.Number({ minimum: 0 }))),
          kind: Type.Optional(nullable(oneOf('ethernet', 'infiniband', 'roce'))),
        }),
        { maxItems: 256 },
      ),
    ),
  ),
  nvlink: Type.Optional(nullable(oneOf('full', 'partial', 'none'))),
  numa_nodes: whole(),
})

/** The body of `POST /api/ingest/environment/nodes`. */
export const nodesInput = closed({
  run_id: runId,
  nodes: Type.Array(node, { maxItems: maxNodesOfCall }),
})

/** `nodes`: total of the run. */
export const nodesReply = Type.Object({ ok: Type.Literal(true), nodes: Type.Integer() })

/** `against`: the id or short id of another run. */
export const environmentQuery = closed({
  against: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
})

/** One fact in which two environments differ, such as `packages.torch`; null if missing. */
export const difference = Type.Object({
  key: Type.String(),
  value: Type.Unknown(),
  against: Type.Unknown(),
})
export type Difference = Static<typeof difference>

const facts = Type.Record(Type.String(), Type.Unknown())

/** Null if none was reported. `differences` is present if another run was named. */
export const environmentAnswer = Type.Object({
  digest: nullable(Type.String()),
  captured_at: nullable(timestamp()),
  environment: nullable(facts),
  against: Type.Optional(Type.Object({ run_id: Type.String(), digest: nullable(Type.String()) })),
  differences: Type.Optional(Type.Array(difference)),
})

/** The facts of each machine, by their rank, then by name. */
export const nodesAnswer = Type.Array(
  Type.Object({ node: Type.String(), reported_at: timestamp(), facts }),
)
