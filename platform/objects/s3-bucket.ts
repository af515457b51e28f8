import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import type { Range } from '../http/range.ts'
import { Refusal } from '../refusal.ts'

export type S3Place = {
  /** Null: Amazon's endpoint for the region. */
  endpoint: string | null
  region: string
  bucket: string
  keyId: string
  secret: string
}

export type Listed = { keys: { key: string; size: number }[]; folders: string[] }

/** Time limit of a call; a failing call is sent at most three times. */
const connectMs = 5000
const responseMs = 30_000
const attempts = 3

/** The S3 calls that the store needs. A failure of the bucket becomes the refusal `unavailable`. */
export class S3Bucket {
  readonly #client: S3Client
  readonly #bucket: string

  constructor({ endpoint, region, bucket, keyId, secret }: S3Place) {
    this.#bucket = bucket
    this.#client = new S3Client({
      region,
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      credentials: { accessKeyId: keyId, secretAccessKey: secret },
      maxAttempts: attempts,
      // Digests are checked end to end; stores other than Amazon's refuse these checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: connectMs,
        requestTimeout: responseMs,
        throwOnRequestTimeout: true,
        socketTimeout: responseMs,
      },
    })
  }

  close(): void {
    this.#client.destroy()
  }

  async put(Key: string, Body: Buffer): Promise<void> {
    await reached(this.#client.send(new PutObjectCommand({ ...this.#at(Key), Body })))
  }

  async sizeOf(key: string): Promise<number | null> {
    const asked = this.#client.send(new HeadObjectCommand(this.#at(key)))
    return (await this.#found(asked))?.ContentLength ?? null
  }

  async read(key: string, range: Range | null, abortSignal?: AbortSignal) {
    const Range = range ? `bytes=${range.first}-${range.last}` : undefined
    const sent = this.#client.send(
      new GetObjectCommand({ ...this.#at(key), Range }),
      abortSignal ? { abortSignal } : {},
    )
    return ((await this.#found(sent))?.Body as Readable | undefined) ?? null
  }

  /** Idempotent: S3 does not report whether the object existed. */
  async remove(key: string): Promise<void> {
    await reached(this.#client.send(new DeleteObjectCommand(this.#at(key))))
  }

  /** With a delimiter, only the names up to it. */
  async list(Prefix: string, Delimiter?: string): Promise<Listed> {
    const found = await pages(async (ContinuationToken: string | undefined) => {
      const request = { Bucket: this.#bucket, Prefix, Delimiter, ContinuationToken }
      const page = await reached(this.#client.send(new ListObjectsV2Command(request)))
      return { page, next: page.IsTruncated ? page.NextContinuationToken : undefined }
    })
    return {
      keys: found
        .flatMap(({ Contents = [] }) => Contents)
        .map(({ Key = '', Size = 0 }) => ({ key: Key, size: Size })),
      folders: found
        .flatMap(({ CommonPrefixes = [] }) => CommonPrefixes)
        .map(({ Prefix: folder = '' }) => folder),
    }
  }

  /** Begins a multipart upload; returns its id. */
  async begin(key: string): Promise<string> {
    const { UploadId } = await reached(
      this.#client.send(new CreateMultipartUploadCommand(this.#at(key))),
    )
    if (UploadId === undefined) throw unavailable(new Error('the multipart upload has no id'))
    return UploadId
  }

  async putPart(key: string, UploadId: string, PartNumber: number, Body: Buffer): Promise<void> {
    const part = { ...this.#at(key), UploadId, PartNumber, Body }
    await reached(this.#client.send(new UploadPartCommand(part)))
  }

  /** False if there is no such upload, i.e. it was completed or aborted before. */
  async complete(key: string, UploadId: string): Promise<boolean> {
    const Parts = await this.#partsOf(key, UploadId)
    if (Parts === null) return false
    const whole = { ...this.#at(key), UploadId, MultipartUpload: { Parts } }
    return (
      (await this.#found(this.#client.send(new CompleteMultipartUploadCommand(whole)))) !== null
    )
  }

  /** No-op for an upload that was completed or aborted before. */
  async abort(key: string, UploadId: string): Promise<void> {
    await this.#found(
      this.#client.send(new AbortMultipartUploadCommand({ ...this.#at(key), UploadId })),
    )
  }

  /** Multipart uploads that were begun before this time and are still open. */
  async openBefore(before: Date): Promise<{ key: string; uploadId: string }[]> {
    type From = { KeyMarker: string; UploadIdMarker: string | undefined }
    const found = await pages(async (from: From | undefined) => {
      const request = { Bucket: this.#bucket, ...from }
      const page = await reached(this.#client.send(new ListMultipartUploadsCommand(request)))
      const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page
      return { page, next: IsTruncated && KeyMarker ? { KeyMarker, UploadIdMarker } : undefined }
    })
    return found
      .flatMap(({ Uploads = [] }) => Uploads)
      .filter(({ Initiated }) => Initiated !== undefined && Initiated < before)
      .map(({ Key = '', UploadId = '' }) => ({ key: Key, uploadId: UploadId }))
  }

  /** Null if there is no such upload. */
  async #partsOf(key: string, UploadId: string) {
    const found = await pages(async (PartNumberMarker: string | undefined) => {
      const request = { ...this.#at(key), UploadId, PartNumberMarker }
      const page = await this.#found(this.#client.send(new ListPartsCommand(request)))
      return { page, next: page?.IsTruncated ? page.NextPartNumberMarker : undefined }
    })
    if (found.includes(null)) return null
    return found
      .flatMap(page => page?.Parts ?? [])
      .map(({ ETag, PartNumber }) => ({ ETag, PartNumber }))
  }

  #at(Key: string) {
    return { Bucket: this.#bucket, Key }
  }

  /** Null only if the object itself is missing: a missing bucket also looks like a missing object. */
  async #found<T>(asked: Promise<T>): Promise<T | null> {
    try {
      return await asked
    } catch (error) {
      if (!isMissing(error)) throw unavailable(error)
      await reached(this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })))
      return null
    }
  }
}

/** Not the library's paginators: they rely on the marker alone, which some servers also send with the last page. */
async function pages<Page, Marker>(
  ask: (from: Marker | undefined) => Promise<{ page: Page; next: Marker | undefined }>,
): Promise<Page[]> {
  const found: Page[] = []
  let from: Marker | undefined
  do {
    const { page, next } = await ask(from)
    found.push(page)
    from = next
  } while (from !== undefined)
  return found
}

async function reached<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    throw unavailable(error)
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404

/** A broken stream throws the same error as a failed call. */
export const unavailable = (cause: unknown): Refusal =>
  cause instanceof Refusal
    ? cause
    : new Refusal('unavailable', 'The object store does not respond; try again', {
        code: 'store.unavailable',
        retryAfterSeconds: 10,
        cause,
      })
