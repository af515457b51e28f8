import { stringify } from 'yaml'
import { packed } from '../platform/files/tar-of.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { sendWhole } from '../uploads/sending.ts'

type Calls = Pick<Forge, 'call'>

export const manifest = {
  name: 'sums',
  version: '0.1.0',
  title: 'Sums of two numbers',
  entry: 'sums:rollout',
  args_schema: {
    properties: { a: { type: 'integer', minimum: 0 }, b: { type: 'integer', minimum: 0 } },
  },
  args_default: { a: 2, b: 3 },
  reward: { min: 0, max: 1 },
}

/** Asks the model, and rewards the right sum. */
export const program = `
import os
def rollout(client, args):
    wanted = str(args["a"] + args["b"])
    answer = client.chat.completions.create(
        messages=[{"role": "user", "content": "%d + %d = ?" % (args["a"], args["b"])}], max_tokens=8)
    said = answer.choices[0].message.content
    print("the model said", repr(said))
    return {"reward": 1.0 if wanted in said else 0.0, "said": said}
`

export const environmentOf = (fields: object = {}, files: Record<string, string> = {}): Buffer =>
  packed(
    ...Object.entries({
      'environment.yaml': stringify({ ...manifest, ...fields }),
      'sums.py': program,
      ...files,
    }).map(([path, content]) => ({ path, content })),
  )

export type Published = {
  ref: string
  version: string
  digest: string
  state: string
  notice: string | null
  created: boolean
  detail: string
  code: string
}

/** Publishes an archive as an environment of the caller. */
export async function publish(
  forge: Calls,
  bytes: Buffer,
  { token, ...more }: { token?: string } & Record<string, unknown> = {},
) {
  const upload_id = await sendWhole(forge, bytes, { purpose: 'environment' }, token)
  return forge.call<Published>('POST', '/api/environments', {
    body: { upload_id, ...more },
    ...(token !== undefined && { token }),
  })
}

export type Version = {
  ref: string
  state: string
  error: string | null
  digest: string
  log: string
  rollouts: { reward: number | null; error: string | null; duration_s: number }[]
  baseline: { mean: number; min: number; max: number; rewards: number[] } | null
  used_by_count: number
}

export const pathOf = (ref: string): string => `/api/environments/${ref.replace('@', '/')}`

/** Waits until a version is no longer being built. */
export const untilBuilt = (forge: Calls, ref: string): Promise<Version> =>
  until(`${ref} is built`, 120_000, async () => {
    const { status, body } = await forge.call<Version>('GET', pathOf(ref))
    return status === 200 && body.state !== 'building' && body
  })
