export function Page() {
  return <h1>Device</h1>
}
