import { stringify } from 'yaml'

/** What the model card says about where a model came from. */
export type Origin = {
  name: string
  /** Null if the run was not a job. */
  job: {
    short_id: string
    recipe: { name: string; version: string; digest: string }
    datasets: { ref: string; digest: string; split: string | null }[]
  } | null
  /** The model of the hub at the beginning of the chain of runs. */
  base: { repo: string; commit: string } | null
  license: string | null
  metrics: Readonly<Record<string, number>>
  artifact: { artifact_id: string; sha256: string }
  /** Runs whose artifacts the run started from, nearest first. */
  ancestors: string[]
}

/** Tables of a card are bounded as everything is. */
const maxRows = 100

/** The model card, in the form of the hub. `own`: what the artifact says about itself, which follows. */
export function cardOf(origin: Origin, own: string): string {
  const { base, license, job, metrics, artifact, ancestors } = origin
  const front = {
    ...(license !== null && { license }),
    ...(base && { base_model: base.repo }),
    tags: ['forge'],
  }
  const facts = [
    ...(base ? [`- Base model: \`${base.repo}\` at commit \`${base.commit}\``] : []),
    ...(license === null ? [] : [`- License: ${inLine(license)}`]),
    ...(job
      ? [
          `- Recipe: \`${inLine(job.recipe.name)}\` ${inLine(job.recipe.version)} (\`${job.recipe.digest}\`)`,
          `- Job: \`${inLine(job.short_id)}\``,
        ]
      : []),
    ...(ancestors.length > 0
      ? [`- Continues: ${ancestors.map(one => `\`${one}\``).join(', ')}`]
      : []),
    `- Artifact: \`${artifact.artifact_id}\` (\`sha256:${artifact.sha256}\`)`,
  ]
  const datasets = (job?.datasets ?? []).map(one => [
    ...[`\`${inCell(one.ref)}\``, one.split === null ? 'all' : inCell(one.split)],
    `\`${one.digest}\``,
  ])
  const values = Object.entries(metrics)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [`\`${inCell(key)}\``, String(value)])
  return [
    `---\n${stringify(front)}---\n`,
    `# ${inLine(origin.name)}\n`,
    `Sent by Forge from the record of its training.\n`,
    `## Origin\n\n${facts.join('\n')}\n`,
    ...table('Training data', ['Dataset', 'Split', 'Digest'], datasets),
    ...table('Metrics', ['Metric', 'Value'], values),
    ...(own.trim() === '' ? [] : [`## From the export\n\n${withoutFront(own).trim()}\n`]),
  ].join('\n')
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]) {
  if (rows.length === 0) return []
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const shown = rows.slice(0, maxRows).map(line)
  const more = rows.length > maxRows ? [`\n… and ${rows.length - maxRows} more`] : []
  return [
    `## ${title}\n\n${[line(head), line(head.map(() => '---')), ...shown, ...more].join('\n')}\n`,
  ]
}

const inLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ')
const inCell = (text: string): string => inLine(text).replaceAll('|', '\\|')
/** Databases and terminals do not take all characters. */
const withoutFront = (text: string): string =>
  text.replaceAll(/[^\P{Cc}\n\t]/gu, '').replace(/^---\n[\s\S]*?\n---\n/, '')
