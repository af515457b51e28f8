import { Refusal } from '../../../platform/refusal.ts'
import type { Serving, ServingInput, Source } from '../../../schemas/deployments/deployments.ts'
import type { FindTemplate } from '../ports.ts'

/** How a revision is served, with defaults filled in. */
export async function resolveServing(
  input: ServingInput,
  { kind }: Source,
  findTemplate: FindTemplate,
): Promise<Serving> {
  return kind === 'external' ? external(input) : ofTemplate(input, findTemplate)
}

const none = { image: null, dtype: null, quantization: null, chat_template: null }

function external(input: ServingInput): Serving {
  const { template, params = {}, args = [], profile = null } = input
  const { tensor_parallel = 1, served_names = ['default'], smoke = 'chat' } = input
  if (template !== undefined || Object.keys(params).length > 0 || args.length > 0)
    throw bad('An external engine takes no template, params or args')
  return {
    ...{ template: null, template_version: null, template_digest: null, framework: null },
    ...{ engine: 'external', engine_version: null, params, args },
    ...{ tensor_parallel, served_names, profile, smoke, ...none },
  }
}

async function ofTemplate(input: ServingInput, findTemplate: FindTemplate): Promise<Serving> {
  const { template, args = [], profile = null, tensor_parallel = 1, smoke = 'chat' } = input
  const hint = 'GET /api/recipes?kind=serve lists the templates'
  if (template === undefined) throw bad('Name serving.template, which serves the artifact', hint)
  const entry = await findTemplate(template)
  const serving = entry?.recipe.serving
  if (!entry || !serving) throw bad(`No such serving template: ${template}`, hint)
  const params = entry.resolveParams(input.params ?? {})
  if (!params.ok)
    throw bad(
      params.errors
        .map(({ loc, msg }) => `serving.params.${loc.slice(1).join('.')}: ${msg}`)
        .join('; '),
    )
  const { version, digest, framework } = entry.recipe
  return {
    ...{ template, template_version: version, template_digest: digest, framework },
    ...{ engine: serving.engine, engine_version: serving.engine_version },
    ...{ params: params.value, args, tensor_parallel },
    served_names: input.served_names ?? serving.served_names,
    ...{ profile, smoke, ...none },
  }
}

const bad = (detail: string, hint?: string): Refusal =>
  new Refusal('invalid', detail, {
    code: 'deployment.serving',
    ...(hint !== undefined && { hint }),
  })
