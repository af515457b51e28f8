import { createHmac } from 'node:crypto'

/** The address for connections as this role. Its password follows from the owner's, so that all hosts know it. */
export function addressAs(url: string, role: string): string {
  const address = new URL(url)
  const { password } = address
  address.username = role
  address.password = password === '' ? '' : passwordOf(role, decodeURIComponent(password))
  return address.toString()
}

const passwordOf = (role: string, secret: string) =>
  createHmac('sha256', secret).update(`forge role ${role}`).digest('base64url')
