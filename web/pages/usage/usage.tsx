export function Usage() {
  return (
    <>
      <title>Usage · Covenant</title>
      <h1>Usage</h1>
    </>
  );
}
