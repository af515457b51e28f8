import { spawnSync } from 'node:child_process'

// `npm run audit`: known vulnerabilities of the packages that an installation consists of.

type Report = {
  auditReportVersion?: number
  vulnerabilities?: Record<string, { severity: string; isDirect: boolean }>
  message?: string
  error?: { summary?: string; code?: string }
}

const { stdout, stderr } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' })
process.exitCode = tell(parsed(stdout))

function parsed(text: string): Report {
  try {
    return JSON.parse(text)
  } catch {
    return { message: stderr.trim().split('\n')[0] || 'npm audit said nothing' }
  }
}

/** Prints the findings; a registry without the endpoint is not a fault of the packages, so that is reported and passes. */
function tell({ auditReportVersion, vulnerabilities = {}, message, error }: Report): number {
  if (auditReportVersion === undefined) {
    const why = error?.summary || error?.code || message || 'no report'
    process.stdout.write(`npm audit: NOT CHECKED, because the registry gave no report (${why})\n`)
    return 0
  }
  const found = Object.entries(vulnerabilities)
  for (const [name, { severity, isDirect }] of found)
    process.stdout.write(
      `npm audit: ${name}: ${severity}${isDirect ? ', a direct dependency' : ''}\n`,
    )
  process.stdout.write(`npm audit: ${found.length} vulnerable packages in production\n`)
  return found.length === 0 ? 0 : 1
}
