import { type Static, Type } from 'typebox'
import { closed, nameText, nullable } from './shared.ts'

/** Money is a decimal text in the one currency of an installation. */
export const currency = 'USD'

const shape = {
  /** The kind of GPU, e.g. `H100`. */
  series: nameText(64),
  gpus_per_node: Type.Integer({ minimum: 0, maximum: 100_000 }),
  max_nodes: Type.Integer({ minimum: 1, maximum: 100_000, default: 1 }),
  cpus: nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  memory_gb: nullable(Type.Number({ minimum: 0, maximum: 1_000_000_000 })),
  executor: Type.String({ minLength: 1, maxLength: 64 }),
  container: Type.Boolean({ default: false }),
  available: Type.Boolean({ default: true }),
  /** Decimal text in the installation's currency. */
  price_per_gpu_hour: Type.String({ pattern: '^\\d{1,8}(\\.\\d{1,4})?$', default: '0' }),
}

export const profileInput = closed({
  ...shape,
  cpus: Type.Optional(shape.cpus),
  memory_gb: Type.Optional(shape.memory_gb),
})

/** Hardware a job can ask for (`GET /api/profiles`). */
export const profile = Type.Object({ name: Type.String(), ...shape })
export type Profile = Static<typeof profile>

export const profilePath = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }),
})

/** Prefixes `host[/path]` that images may come from. */
export const imageRegistries = closed({
  registries: Type.Array(
    Type.String({ pattern: '^[a-z0-9.-]+(:\\d+)?(/[a-z0-9._/-]+)?$', maxLength: 255 }),
    {
      maxItems: 200,
    },
  ),
})
