const secretName =
  /TOKEN(?!IZ)|SECRET|PASS(WORD|WD|PHRASE)?(_|$)|CREDENTIAL|(^|_|API|PRIVATE|ACCESS)KEY(_|$)|AUTH(?!OR)|COOKIE|DSN(_|$)/i
/** A password in an address, or a known prefix of tokens. */
const secretValue =
  /:\/\/[^/\s:@]*:[^/\s@]+@|^(Bearer |eyJ|sk-|hf_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|npm_|pypi-|fit_|-----BEGIN)/

/** Whether a named value, such as an environment variable, looks like a secret. */
export const isSecret = (name: string, value: string): boolean =>
  secretName.test(name) || secretValue.test(value)

/** Recognizes tokens by their prefixes, anywhere in a text. */
export const issuedTokens =
  /(?<!\w)(?:eyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?|(?:sk|pk|rk)-[\w-]{16,}|(?:hf|api_org)_\w{10,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[a-z]-[\w-]{8,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|npm_\w{16,}|pypi-[\w-]{16,}|fit_\w{16,})/g

/** Stands for a secret value in events and responses. */
export const mask = '***'
