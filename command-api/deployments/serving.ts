import { Refusal } from '../../platform/refusal.ts'
import type { Serving, ServingInput, Source } from '../../schemas/deployments.ts'

/** How a revision is served, with all that its request left out. */
export function resolveServing(input: ServingInput, { kind }: Source): Serving {
  const { template = null, params = {}, args = [], profile = null } = input
  const { tensor_parallel = 1, served_names = ['default'], smoke = 'chat' } = input
  if (kind !== 'external')
    throw new Refusal('not_configured', 'This installation has no serving templates', {
      hint: 'Deploy an engine that runs already: source.kind external',
    })
  if (template !== null || Object.keys(params).length > 0 || args.length > 0)
    throw new Refusal('invalid', 'An external engine has no template, params or args of Forge', {
      code: 'deployment.serving',
    })
  return {
    ...{ template, template_version: null, template_digest: null },
    ...{ engine: 'external', engine_version: null, image: null, params, args },
    ...{ tensor_parallel, served_names, dtype: null, quantization: null, profile },
    ...{ chat_template: null, smoke },
  }
}
