import { Refusal } from '../../../platform/refusal.ts'
import type { GateName, GateResult } from '../../../schemas/jobs/jobs.ts'
import { dialect } from '../../../schemas/jobs/jobspec.ts'
import { fitsVariable, isJobVariable, maxVariableBytes } from '../../../schemas/jobs/variables.ts'
import { isTemplate, type Recipe, templateName } from '../../../schemas/recipes.ts'
import { mask } from '../../rules/secrets.ts'
import { type AdmissionFacts, requestOf } from './facts.ts'
import type { Answer, Gate, Refused } from './gate.ts'
import { profileGate } from './profile-gate.ts'
import { teamGate } from './team-gate.ts'

const dialectGate: Gate = ({ spec }) => askDialect(spec.api)

const askDialect = (api: string): Answer =>
  api === dialect
    ? { ok: true, detail: `the dialect is ${dialect}` }
    : {
        ok: false,
        code: 'dialect.unknown',
        detail: `Unsupported dialect: the job has api ${api}, this control plane accepts ${dialect}`,
        data: { submitted: api, spoken: dialect },
        hint: `Write the job in dialect ${dialect}`,
      }

/** All identifying fields of the lock must match a recipe of the catalogue (specification, "Gates", 1). */
const recipeHandshake: Gate = ({ spec, recipe, recipes, serving }) => {
  const { lock } = spec
  if (!recipe)
    return {
      ok: false,
      code: 'recipe_handshake.name',
      detail: `Recipe handshake failed: name differs (submitted ${lock.name}, catalog ${recipes.join(', ') || 'is empty'})`,
      data: { submitted: { name: lock.name }, catalog: { names: recipes } },
      hint: 'Use the lock of a recipe that GET /api/recipes lists',
    }
  const compared = [
    ['version', lock.version, recipe.version],
    ['digest', lock.digest, recipe.digest],
    ['framework.runtime_id', lock.framework.runtime_id, recipe.framework.runtime_id],
  ] as const
  const differing = compared.filter(([, submitted, catalog]) => submitted !== catalog)
  if (differing.length === 0 && isTemplate(recipe) !== (serving !== null))
    return serving === null ? notByJobs(recipe) : notServing(recipe)
  if (differing.length === 0)
    return { ok: true, detail: `${recipe.name} ${recipe.version} matches catalog` }
  const told = differing.map(
    ([field, submitted, catalog]) =>
      `${field} differs (submitted ${submitted}, catalog ${catalog})`,
  )
  return {
    ok: false,
    code: `recipe_handshake.${differing[0]?.[0]}`,
    detail: `Recipe handshake failed: ${told.join('; ')}`,
    data: {
      submitted: Object.fromEntries(differing.map(([field, submitted]) => [field, submitted])),
      catalog: Object.fromEntries(differing.map(([field, , catalog]) => [field, catalog])),
    },
    hint: `Use the lock that GET /api/recipes/${recipe.name}/${recipe.version}/lock returns`,
  }
}

const notByJobs = ({ name, version }: Recipe): Refused => ({
  ok: false,
  code: 'recipe_handshake.serving',
  detail: `Recipe handshake failed: ${name} ${version} is a serving template, not a recipe for jobs; deploy it with \`forge deploy create\``,
  data: { submitted: { name, version } },
  hint: `forge deploy create --template ${templateName({ name })}, or POST /api/deployments`,
})

const notServing = ({ name, version }: Recipe): Refused => ({
  ok: false,
  code: 'recipe_handshake.serving',
  detail: `Recipe handshake failed: ${name} ${version} is not a serving template`,
  data: { submitted: { name, version } },
  hint: 'Serving templates: GET /api/recipes?kind=serve',
})

const entrypointOverride: Gate = ({ spec }) =>
  spec.spec.source.entrypoint === ''
    ? { ok: true, detail: 'the recipe owns the entrypoint' }
    : {
        ok: false,
        code: 'entrypoint_override',
        detail:
          'Entrypoint override refused: spec.source.entrypoint must be empty; the recipe owns the entrypoint',
        data: { submitted: spec.spec.source.entrypoint },
        hint: 'Leave out spec.source.entrypoint; parameters go into spec.params',
      }

const imageRegistry: Gate = ({ spec, registries }) => {
  const { image } = spec.spec
  if (!image) return { ok: true, detail: "the recipe's own image" }
  const place = registryOf(image.ref)
  const allowed = registries.find(prefix => place === prefix || place.startsWith(`${prefix}/`))
  if (allowed !== undefined) return { ok: true, detail: `${allowed} is allowed` }
  return {
    ok: false,
    code: 'image_registry.not_allowed',
    detail: `Image registry not allowed: ${place.split('/')[0]}`,
    data: { image: image.ref, allowed: registries },
    hint: 'Leave out spec.image to use the recipe’s own, or ask an admin to allow the registry',
  }
}

/** The `host/path` of an image; the default host is Docker Hub, as in container engines. */
function registryOf(ref: string): string {
  const path = ref.replace(/@.*$/, '').replace(/:[^/:]*$/, '')
  const [first = '', ...rest] = path.split('/')
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first)
  return hasHost ? path : `docker.io/${path}`
}

/** Refuses jobs beyond the quota itself; GPUs in use only make a job wait (specification, "Gates", 2). */
export const quotaGate: Gate = facts => {
  const { quota, held_gpus } = facts
  const { gpus, series } = requestOf(facts)
  const cap = quota.per_series[series]?.max_concurrent_gpus
  const byLimit = [
    ['max_concurrent_gpus', quota.max_concurrent_gpus],
    [`per_series.${series}`, cap ?? Number.POSITIVE_INFINITY],
  ] as const
  const exceeded = byLimit.find(([, available]) => gpus > available)
  if (exceeded) {
    const [name, available] = exceeded
    return {
      ok: false,
      code: name === 'max_concurrent_gpus' ? 'quota.max_concurrent_gpus' : 'quota.per_series',
      detail: `Insufficient quota: requested ${gpus} GPUs, available ${available}`,
      data: { requested: gpus, available, limit: name },
      hint: `Ask for at most ${available} GPUs, or ask an admin for more quota`,
    }
  }
  const available = Math.min(quota.max_concurrent_gpus, cap ?? Number.POSITIVE_INFINITY)
  const data = { requested: gpus, available }
  const after = held_gpus + gpus
  if (after > quota.max_concurrent_gpus)
    return {
      ok: true,
      detail: `${held_gpus} of the ${quota.max_concurrent_gpus} GPUs that the quota allows are in use; the job waits for ${gpus}`,
      data,
    }
  return {
    ok: true,
    detail: `with this job, ${after} of the ${quota.max_concurrent_gpus} GPUs that the quota allows`,
    data,
  }
}

const references: Gate = ({ dangling, forbidden }) => {
  if (dangling.length > 0)
    return {
      ok: false,
      code: 'references.unknown',
      detail: dangling.join('; '),
      data: { unknown: dangling },
      hint: 'Remove the references to missing resources, or ask the owners to share them',
    }
  if (forbidden.length > 0)
    return {
      ok: false,
      code: 'references.forbidden',
      refusal: 'forbidden',
      detail: `You may see the ${forbidden.length === 1 ? 'dataset' : 'datasets'} ${forbidden.join(', ')}, but not use ${forbidden.length === 1 ? 'it' : 'them'}`,
      data: { forbidden },
      hint: 'Ask the owner to grant you its use',
    }
  return { ok: true, detail: 'every reference resolves' }
}

const params: Gate = ({ params: checked, recipe }) => {
  if (!checked)
    return {
      ok: false,
      code: 'params.unchecked',
      detail: 'Parameters cannot be checked: the recipe is not in the catalog',
      hint: 'Use the lock of a recipe that GET /api/recipes lists',
    }
  if (checked.errors.length === 0) return { ok: true, detail: "they match the recipe's schema" }
  const faults = checked.errors.map(
    ({ loc, msg }) => `${['params', ...loc.slice(1)].join('.')}: ${msg}`,
  )
  return {
    ok: false,
    code: 'params.invalid',
    detail: `Parameters refused: ${faults.slice(0, 5).join('; ')}`,
    data: { faults },
    hint: `See params_schema of GET /api/recipes/${recipe?.name}/${recipe?.version}`,
  }
}

/** The archive was read when it was registered; the command line refuses such files before it sends anything. */
const sensitiveFile: Gate = ({ spec, package: found }) => {
  if (spec.spec.source.kind !== 'package') return { ok: true, detail: 'no package' }
  if (!found)
    return {
      ok: false,
      code: 'sensitive_file.unchecked',
      detail: 'Files cannot be checked: there is no such package',
    }
  const { files, expanded_bytes, sensitive } = found
  if (sensitive.length === 0)
    return { ok: true, detail: `${files} files, ${expanded_bytes} bytes, none sensitive` }
  return {
    ok: false,
    code: 'sensitive_file',
    detail: `Sensitive files in the package: ${sensitive.join(', ')}`,
    data: { files: sensitive },
    hint: 'Leave them out of the package (.forgeignore); pass the run what it needs as environment variables',
  }
}

/** A variable that changes how programs are loaded or installed could affect programs other than the job's own. */
const environmentVariables: Gate = ({ spec }) => {
  const { env } = spec.spec
  const refused = Object.keys(env).filter(name => !isJobVariable(name))
  const tooLong = Object.keys(env).filter(name => !fitsVariable(name, env[name] ?? ''))
  const hidden = Object.keys(env).filter(name => env[name] === mask)
  if (refused.length === 0 && hidden.length > 0)
    return {
      ok: false,
      code: 'env.masked',
      detail: `Environment variables refused: ${hidden.join(', ')} ${hidden.length === 1 ? 'is' : 'are'} "${mask}", which is how the secrets of another job are shown`,
      data: { refused: hidden },
      hint: 'Enter the values themselves: nobody can read those of another job',
    }
  if (refused.length === 0 && tooLong.length > 0)
    return {
      ok: false,
      code: 'env.too_long',
      detail: `Environment variables refused: ${tooLong.join(', ')}: no program can be started with a variable of more than ${maxVariableBytes - 1} bytes, including its name and "="`,
      data: { refused: tooLong },
      hint: 'Pass long values as parameters; the run reads them from FORGE_PARAMS_FILE',
    }
  if (refused.length === 0) return { ok: true, detail: 'every variable is allowed' }
  return {
    ok: false,
    code: 'env.refused',
    detail: `Environment variables refused: ${refused.join(', ')} ${refused.length === 1 ? 'changes' : 'change'} how programs are loaded, found or installed`,
    data: { refused },
    hint: 'Leave them out of spec.env; pass what the program needs as parameters',
  }
}

/** In the order in which they run. */
const gates: readonly [GateName, Gate][] = [
  ['dialect', dialectGate],
  ['recipe_handshake', recipeHandshake],
  ['entrypoint_override', entrypointOverride],
  ['image_registry', imageRegistry],
  ['quota', quotaGate],
  ['team', teamGate],
  ['profile', profileGate],
  ['references', references],
  ['params', params],
  ['sensitive_file', sensitiveFile],
  ['env', environmentVariables],
]

/** Results of all gates, including refusals. */
export const askAll = (facts: AdmissionFacts): GateResult[] =>
  gates.map(([gate, ask]) => {
    const answer = ask(facts)
    if (answer.ok) return { gate, ...answer }
    const { refusal: _, ...shown } = answer
    return { gate, ...shown }
  })

/** Results of all gates; throws the first refusal (specification, "Gates that refuse `POST /api/jobs`"). */
export const passAll = (facts: AdmissionFacts): GateResult[] =>
  gates.map(([gate, ask]) => {
    const answer = ask(facts)
    if (!answer.ok) throw refusalOf(gate, answer)
    return { gate, ...answer }
  })

/** The first gate runs before validation, because other dialects have other schemas. */
export function passDialect(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('api' in body)) return
  const answer = typeof body.api === 'string' ? askDialect(body.api) : null
  if (answer?.ok === false) throw refusalOf('dialect', answer)
}

function refusalOf(gate: GateName, { detail, refusal, ok: _, ...extras }: Refused): Refusal {
  return new Refusal(refusal ?? 'invalid', detail, { fields: { gate }, ...extras })
}
