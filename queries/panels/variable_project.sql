-- Which projects are there? One value per row.
SELECT DISTINCT project FROM task_versions ORDER BY project
