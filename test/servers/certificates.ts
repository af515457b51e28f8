import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export type Certificates = { caFile: string; certFile: string; keyFile: string; serverFile: string }

/** A certificate authority with one certificate for this machine, as server and as client; `name` distinguishes several. */
export async function makeCertificates(folder: string, name = 'test'): Promise<Certificates> {
  const path = (part: string) => join(folder, `${name}-${part}.pem`)
  const [caKey, caFile, keyFile, request, certFile, serverFile, names] = [
    path('ca-key'),
    path('ca'),
    path('key'),
    path('request'),
    path('cert'),
    path('server'),
    path('names'),
  ]
  const openssl = (...args: string[]) => run('openssl', args)
  const newKey = ['-newkey', 'rsa:2048', '-nodes']
  await openssl('req', '-x509', ...newKey, '-keyout', caKey, '-out', caFile, '-subj', `/CN=${name}`)
  await openssl('req', ...newKey, '-keyout', keyFile, '-out', request, '-subj', '/CN=localhost')
  await writeFile(names, 'subjectAltName=IP:127.0.0.1,DNS:localhost\n')
  const signed = ['-in', request, '-CA', caFile, '-CAkey', caKey, '-CAcreateserial']
  await openssl('x509', '-req', ...signed, '-extfile', names, '-out', certFile)
  await writeFile(serverFile, `${await readFile(keyFile)}${await readFile(certFile)}`)
  return { caFile, certFile, keyFile, serverFile }
}
