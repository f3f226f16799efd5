-- How far do models that judge agree with people? Each judge check's current verdicts against the human outcomes.
-- One row per project, check_id and check_version that has judged a run; versions of a check are different judges.
-- positive is pass: tpr = P(judge passes | a person passed it), tnr = P(judge fails | a person failed it);
-- kappa = (agreement - chance) / (1 - chance), Cohen's. Intervals are Wilson's, 95 % for one look; that of kappa is the one
-- of the agreement, at this chance. unanswered: labelled runs on which the judge said neither pass nor fail.
-- calibration: known from ten labels of each kind on, else unknown: until then nothing says that the judge is right.
CREATE OR REPLACE VIEW judge_calibration AS
WITH 1.959963984540054 AS z
SELECT
    project, check_id, check_version, judged, labelled, tp, fp, tn, fn, unanswered,
    tp / nullIf(tp + fn, 0) AS tpr,
    (tp + z * z / 2 - z * sqrt(tp * fn / nullIf(tp + fn, 0) + z * z / 4)) / (nullIf(tp + fn, 0) + z * z) AS tpr_low,
    (tp + z * z / 2 + z * sqrt(tp * fn / nullIf(tp + fn, 0) + z * z / 4)) / (nullIf(tp + fn, 0) + z * z) AS tpr_high,
    tn / nullIf(tn + fp, 0) AS tnr,
    (tn + z * z / 2 - z * sqrt(tn * fp / nullIf(tn + fp, 0) + z * z / 4)) / (nullIf(tn + fp, 0) + z * z) AS tnr_low,
    (tn + z * z / 2 + z * sqrt(tn * fp / nullIf(tn + fp, 0) + z * z / 4)) / (nullIf(tn + fp, 0) + z * z) AS tnr_high,
    (agreed / nullIf(labelled, 0) - chance) / nullIf(1 - chance, 0) AS kappa,
    if(kappa IS NULL, NULL, greatest(-1, (agreed_low - chance) / (1 - chance))) AS kappa_low,
    (agreed_high - chance) / nullIf(1 - chance, 0) AS kappa_high,
    if(tp + fn >= 10 AND tn + fp >= 10, 'known', 'unknown') AS calibration
FROM
(
    SELECT
        project, check_id, check_version, countIf(status IN ('pass', 'fail')) AS judged,
        countIf(status = 'pass' AND label = 'pass') AS tp, countIf(status = 'pass' AND label = 'fail') AS fp,
        countIf(status = 'fail' AND label = 'fail') AS tn, countIf(status = 'fail' AND label = 'pass') AS fn,
        countIf(status IN ('unknown', 'error') AND label != '') AS unanswered,
        tp + fp + tn + fn AS labelled, tp + tn AS agreed,
        ((tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)) / nullIf(labelled * labelled, 0) AS chance,
        (agreed + z * z / 2 - z * sqrt(agreed * (labelled - agreed) / nullIf(labelled, 0) + z * z / 4))
            / (nullIf(labelled, 0) + z * z) AS agreed_low,
        (agreed + z * z / 2 + z * sqrt(agreed * (labelled - agreed) / nullIf(labelled, 0) + z * z / 4))
            / (nullIf(labelled, 0) + z * z) AS agreed_high
    FROM
    (
        SELECT project, run_key, check_id_ AS check_id, version_ AS check_version, status
        FROM
        (
            SELECT project, run_key, check_id, check_kind, check_status, check_version
            FROM runs FINAL
            WHERE alive AND NOT open AND service != 'passhat-doctor' AND has(check_kind, 'judge')
        )
        ARRAY JOIN check_id AS check_id_, check_kind AS kind, check_status AS status, check_version AS version_
        WHERE kind = 'judge'
    ) AS said
    LEFT JOIN
    (
        SELECT project, run_key, argMax(result, (time_ns, stored_at)) AS label
        FROM outcomes FINAL
        WHERE source = 'human'
        GROUP BY project, run_key
        HAVING label IN ('pass', 'fail')
    ) AS people USING (project, run_key)
    GROUP BY project, check_id, check_version
)
