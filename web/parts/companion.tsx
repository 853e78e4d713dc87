/** Beside each command of the companion, until it is there; each such place also shows one that runs today. */
export function CompanionNote() {
  return (
    <p className="text-muted">
      <code>covibe-local</code>, the companion, comes with a later version.
    </p>
  );
}
