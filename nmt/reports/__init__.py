"""Plots and tables of runs and translations."""
