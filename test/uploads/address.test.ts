import test from 'ava'
import { judgeQuery, signedQuery } from '../../command-api/uploads/address.ts'
import { pieceOf } from '../../command-api/uploads/piece.ts'
import { addressKeyOf } from '../../platform/http/signed-address.ts'
import { Refusal } from '../../platform/refusal.ts'

const key = addressKeyOf(Buffer.alloc(32, 'root'), 'uploads')
const upload = {
  upload_id: 'upl_1',
  owner: 'ada',
  content_type: 'application/gzip',
  size_bytes: 100,
  sha256: null,
}
const noon = new Date('2026-11-22T12:00:00Z')
const after = (seconds: number) => new Date(noon.getTime() + seconds * 1000)

test('an address is valid until its time, unchanged, for the same upload, with the same key', t => {
  const query = signedQuery(key, upload, after(60))
  t.is(judgeQuery(key, upload, query, after(59)), 'valid')
  t.is(judgeQuery(key, upload, query, after(60)), 'expired')
  for (const [name, value] of Object.entries({
    exp: String(Number(query.exp) + 1),
    len: '101',
    sha256: '0'.repeat(64),
    kid: 'k',
    sig: query.sig.slice(1),
  }))
    t.is(judgeQuery(key, upload, { ...query, [name]: value }, noon), 'forged', name)
  for (const other of [{ upload_id: 'upl_2' }, { owner: 'eve' }, { content_type: 'text/html' }])
    t.is(judgeQuery(key, { ...upload, ...other }, query, noon), 'forged')
  for (const other of [
    addressKeyOf(Buffer.alloc(32), 'uploads'),
    addressKeyOf(Buffer.alloc(32, 'root'), 'downloads'),
  ])
    t.is(judgeQuery(other, upload, query, noon), 'forged')
})

const headers = (given: Record<string, string>) => ({ get: (name: string) => given[name] ?? '' })
const refused = (given: Record<string, string>): number => {
  try {
    pieceOf(headers(given), 100)
  } catch (error) {
    if (error instanceof Refusal) return error.status
  }
  throw new Error('it was not refused')
}

test('the headers of a request say which bytes it sends', t => {
  const piece = (given: Record<string, string>) => pieceOf(headers(given), 100)
  t.deepEqual(piece({ 'content-length': '100' }), { start: 0, length: 100 })
  const part = { 'content-length': '10', 'content-range': 'bytes 90-99/100' }
  t.deepEqual(piece(part), { start: 90, length: 10 })
  t.is(piece({ 'content-length': '0', 'content-range': 'bytes */100' }), null)
})

test('requests without a length, or with another than they announce, are refused before they are read', t => {
  t.is(refused({}), 411)
  t.is(refused({ 'transfer-encoding': 'chunked' }), 411)
  t.is(refused({ 'content-length': '100', 'transfer-encoding': 'chunked' }), 411)
  t.is(refused({ 'content-length': '-1' }), 411)
  t.is(refused({ 'content-length': '99' }), 400)
  t.is(refused({ 'content-length': '101' }), 413)
  const part = { 'content-length': '10' }
  for (const range of [
    'bytes 90-99/101',
    'bytes 91-100/100',
    'bytes 9-0/100',
    'bytes=0-9',
    'bytes 0-9/*',
  ])
    t.is(refused({ ...part, 'content-range': range }), 400, range)
  t.is(refused({ ...part, 'content-range': 'bytes 90-98/100' }), 413)
  t.is(refused({ ...part, 'content-range': 'bytes */100' }), 413)
})
