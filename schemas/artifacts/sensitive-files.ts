/** Names of files that usually hold secrets, in lower case; packages must not contain them. */
const sensitive = [
  /^\.env$/,
  /^\.env\.(?!(example|sample|template|dist)$)/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /^\.(netrc|pgpass|pypirc|git-credentials|htpasswd|vault-token)$/,
]
/** Files whose names alone are not suspicious. */
const sensitivePaths = [
  /(^|\/)\.aws\/credentials$/,
  /(^|\/)\.docker\/config\.json$/,
  /(^|\/)\.kube\/config$/,
]

/** Whether a file is one that packages must not hold (specification, "Gates that refuse `POST /api/jobs`", 5). */
export function isSensitive(path: string): boolean {
  const lower = path.toLowerCase()
  const name = lower.slice(lower.lastIndexOf('/') + 1)
  return (
    sensitive.some(pattern => pattern.test(name)) ||
    sensitivePaths.some(pattern => pattern.test(lower))
  )
}
